"""What a launch on a GPU refuses, a run on the emulator refuses with the same words, and nothing runs."""

from dataclasses import replace

import numpy as np
import pytest
from programs import kernel, module
from stand_in import OnGpu

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError, launch_on_cpu
from mlir_smem.runtime.arguments import DTYPES
from mlir_smem.runtime.cpu import _address

TEXT = module(
    kernel(
        "",
        name="scale",
        arguments=(
            '%x: memref<?x64xbf16, strided<[?, 1]>> {smem.name = "X", smem.shape = ["M", "K"]}, '
            '%y: memref<?xf32> {smem.name = "Y", smem.shape = ["M"]}, %n: i32, %f: f32'
        ),
        attributes=', smem.grid = [["M", 8]], smem.multiples = {M = 8}',
    )
)
BF16, F32 = DTYPES["bf16"], DTYPES["f32"]

#: The map of X for bulk tensor copies.
MAP = {"argument": "X", "box": [8, 64], "contiguous": 1, "element": "bf16", "swizzle": "128B"}


@pytest.fixture(scope="module")
def compiled_kernels():
    return mlir_smem.compile(TEXT), mlir_smem.compile(TEXT, emit="nvvm")


def array(shape=(16, 64), strides=None, offset=0, dtype=BF16):
    """A NumPy array in larger memory.

    Args:
        shape: its extents.
        strides: in elements; None for those of a contiguous array.
        offset: bytes from the start of the memory, which a GPU aligns to 256 bytes.
        dtype: its elements.
    """
    memory = np.zeros(1 << 16, np.uint8)
    steps = None if strides is None else [stride * dtype.itemsize for stride in strides]
    begin = 1 << 15 if strides and min(strides) < 0 else offset
    return np.ndarray(shape, dtype, memory, begin, steps)


Y = array((16,), dtype=F32)


def with_manifest(compiled, changes):
    """The compiled kernel, with other entries in its manifest; "alignment" is that of X."""
    (entry,) = compiled.manifest["kernels"]
    changed = {**entry, **changes}
    if "alignment" in changed:
        first, *rest = entry["arguments"]
        changed["arguments"] = [{**first, "alignment": changed.pop("alignment")}, *rest]
    return replace(compiled, manifest={**compiled.manifest, "kernels": [changed]})


def on_gpu(value):
    """An array of a GPU like a NumPy array; other values as they are."""
    if not isinstance(value, np.ndarray):
        return value
    strides = tuple(stride // value.itemsize for stride in value.strides)
    return OnGpu(value.shape, value.dtype, strides, _address(value))


BULK = {"tensor_maps": [MAP]}
#: The changes of the manifest, the arguments, the grid, and the message.
CASES = {
    "an address for 16-byte accesses": (
        {"alignment": 16},
        [array(offset=2), Y, 1, 1.0],
        None,
        "X begins at ",
    ),
    "an address for padded boxes": (
        {"alignment": 32},
        [array(offset=16), Y, 1, 1.0],
        None,
        "not a multiple of 32",
    ),
    "an address of an element": ({}, [array(offset=1), Y, 1, 1.0], None, "not a multiple of 2"),
    "a stride for 16-byte accesses": (
        {"alignment": 16},
        [array(strides=(68, 1)), Y, 1, 1.0],
        None,
        "X has the stride 136 bytes along dimension 0; the kernel accesses 16 bytes at a time",
    ),
    "an address for TMA": (BULK, [array(offset=8), Y, 1, 1.0], None, "; TMA takes multiples of 16"),
    "a stride for TMA": (
        BULK,
        [array(strides=(68, 1)), Y, 1, 1.0],
        None,
        "X has the stride 136 bytes along dimension 0; TMA takes multiples of 16",
    ),
    "a negative stride for TMA": (
        BULK,
        [array(strides=(-64, 1)), Y, 1, 1.0],
        None,
        "X has the stride -128 bytes along dimension 0; TMA takes multiples of 16 from 0",
    ),
    "a box": (
        {"tensor_maps": [{**MAP, "box": [512, 64]}]},
        [array(), Y, 1, 1.0],
        None,
        "the box of X is [512, 64]; TMA takes extents of 1 to 256",
    ),
    "a swizzle": (
        {"tensor_maps": [{**MAP, "swizzle": "32B"}]},
        [array(), Y, 1, 1.0],
        None,
        "TMA takes at most 32 with the swizzle 32B",
    ),
    "strides of the type": (
        {},
        [array(strides=(128, 2)), Y, 1, 1.0],
        None,
        "X has the strides [128, 2]; the kernel takes ['?', 1] (elements)",
    ),
    "a rank": ({}, [array((16,)), Y, 1, 1.0], None, "X has 1 dimensions; expected 2"),
    "no elements": ({}, [array((0, 64)), Y, 1, 1.0], None, "expected at least one element"),
    "an extent": ({}, [array((16, 32)), Y, 1, 1.0], None, "X is [16, 32]; expected ['M', 64]"),
    "a multiple": (
        {},
        [array((4, 64)), array((4,), dtype=F32), 1, 1.0],
        None,
        "M is 4; expected a positive multiple of 8",
    ),
    "extents that contradict": (
        {},
        [array((8, 64)), Y, 1, 1.0],
        None,
        "M is 8 in X but 16 in Y",
    ),
    "a type": ({}, [array(dtype=F32), Y, 1, 1.0], None, "X has elements of float32; expected bf16"),
    "a number's range": ({}, [array(), Y, 1 << 31, 1.0], None, "which is not of type i32"),
    "a number's class": ({}, [array(), Y, 1.5, 1.0], None, "which is not of type i32"),
    "the number of arguments": ({}, [array(), Y], None, "scale takes 4 arguments"),
    "a grid": ({}, [array(), Y, 1, 1.0], (1, 1 << 16), "a grid of [1, 65536, 1] is not possible"),
    "an empty grid": ({}, [array(), Y, 1, 1.0], (0,), "a grid has one to three positive extents"),
    "no grid": ({"grid": None}, [array(), Y, 1, 1.0], None, "has no smem.grid; pass a grid"),
    "half a cluster": (
        {"cluster": [4, 1, 1]},
        [array(), Y, 1, 1.0],
        None,
        "multiples of [4, 1, 1]",
    ),
    "a cluster": (
        {"cluster": [32, 1, 1]},
        [array(), Y, 1, 1.0],
        (32,),
        "scale has clusters of 32 thread blocks; at most 16 are possible",
    ),
    "a thread block": (
        {"block": [1024, 2, 1]},
        [array(), Y, 1, 1.0],
        None,
        "scale has thread blocks of [1024, 2, 1] threads; at most [1024, 1024, 64], and 1024 in all",
    ),
    "no thread block": ({"block": None}, [array(), Y, 1, 1.0], None, "has no known_block_size"),
    "shared memory": (
        {"shared_bytes": 232449},
        [array(), Y, 1, 1.0],
        None,
        "232449 bytes of dynamic shared memory; a thread block has at most 232448",
    ),
}


def refusal(call, *arguments, **options):
    with pytest.raises(LaunchError) as error:
        call(*arguments, **options)
    return str(error.value)


@pytest.mark.parametrize("changes, arguments, grid, message", CASES.values(), ids=CASES)
def test_both_refuse_with_the_same_words(gpu, compiled_kernels, changes, arguments, grid, message):
    for_gpu, for_cpu = (with_manifest(compiled, changes) for compiled in compiled_kernels)

    def launch():
        Kernel(for_gpu).launch(*map(on_gpu, arguments), grid=grid)

    words = refusal(launch)
    assert message in words
    assert refusal(launch_on_cpu, for_cpu, None, arguments, grid) == words
    assert gpu.launches == []


def test_both_take_what_fits(gpu, compiled_kernels):
    """Views at aligned offsets, wide rows, and memory that NumPy aligns to 16 bytes only."""
    for x in (array(), array(offset=32), array(strides=(128, 1))):
        changes = {"alignment": 32, **BULK}
        for_gpu, for_cpu = (with_manifest(compiled, changes) for compiled in compiled_kernels)
        Kernel(for_gpu).launch(on_gpu(x), on_gpu(Y), 1, 1.0)
        # The module has no tensor map that the manifest could describe: only the checks are of interest.
        for_cpu = replace(
            for_cpu, manifest=with_manifest(compiled_kernels[1], {"alignment": 32}).manifest
        )
        launch_on_cpu(for_cpu, None, [x, Y, 1, 1.0])
    assert len(gpu.launches) == 3


def test_memory_of_another_package_may_begin_anywhere(compiled_kernels):
    memory = bytearray(1 << 16)
    begin = -np.frombuffer(memory, np.uint8).ctypes.data % 16
    _, for_cpu = compiled_kernels
    for_cpu = with_manifest(for_cpu, {"alignment": 16})
    fits = np.frombuffer(memory, BF16, 16 * 64, begin).reshape(16, 64)
    launch_on_cpu(for_cpu, None, [fits, Y, 1, 1.0])
    shifted = np.frombuffer(memory, BF16, 16 * 64, begin + 2).reshape(16, 64)
    assert "not a multiple of 16" in refusal(launch_on_cpu, for_cpu, None, [shifted, Y, 1, 1.0])
