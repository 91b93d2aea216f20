"""Tensor maps that are not valid, and copies that the emulator does not know."""

import numpy as np
import pytest
from emulated import run_text
from tma_copies import WAIT, faults_of_copies, kernel, load, map_type

from mlir_smem.emulator import EmulationError

# Maps that are not valid.


def refusal(array, box, element="f32", swizzle="none", contiguous=1, start=(0, 0), argument=0):
    maps = [map_type(box, element, swizzle, contiguous, argument)]
    with pytest.raises(EmulationError) as error:
        run_text(kernel(load(start), [array], maps, 1024), "k", (array,), shared=1032)
    return str(error.value)


FITS = np.ones((32, 32), np.float32)
PACKED = np.ones((32, 192), np.uint8)


@pytest.mark.parametrize(
    "array, options, message",
    [
        (FITS, {"box": (257, 8)}, "a box of [8, 257] elements; expected 1 to 256 along each"),
        (FITS, {"box": (8, 0)}, "a box of [0, 8] elements; expected 1 to 256 along each"),
        (FITS, {"box": (8, 6)}, "a box of 24 bytes along its first dimension; expected a multiple"),
        (
            FITS,
            {"box": (8, 16), "swizzle": "32B"},
            "a box of 64 bytes along its first dimension; expected at most the 32 of its swizzle",
        ),
        (
            FITS,
            {"box": (8, 8), "swizzle": "16B"},
            "the swizzle 16B; expected one of none, 32B, 64B",
        ),
        (
            FITS,
            {"box": (8, 8), "contiguous": 0},
            "a contiguous dimension of stride 128 bytes; expected 4",
        ),
        (
            FITS,
            {"box": (8, 8), "element": "bf16"},
            "elements of bf16; the array is memref<32x32xf32>",
        ),
        (FITS, {"box": (8, 8, 8)}, "a box of 3 dimensions; expected those of memref<32x32xf32>"),
        (FITS, {"box": (8, 8), "argument": 4}, "describes argument 4, which is not an array"),
        (
            FITS,
            {"box": (8, 8), "start": (0, 0, 0)},
            "has 3 coordinates for the tensor map of argument 0",
        ),
        (
            np.ones((32, 30), np.float32),
            {"box": (8, 8)},
            "an array of strides [4, 120] bytes; expected multiples of 16 except for the first",
        ),
        (
            np.ones((0, 32), np.float32),
            {"box": (8, 8)},
            "describes [32, 0] elements; expected at least one along each dimension",
        ),
        (
            PACKED,
            {"box": (8, 64), "element": "e2m3_p32"},
            "pads boxes of 64 elements of e2m3_p32 with a swizzle of 0 bytes; expected 128 elements",
        ),
        (
            PACKED,
            {"box": (8, 128), "element": "e2m1_p64", "swizzle": "64B"},
            "pads boxes of 128 elements of e2m1_p64 with a swizzle of 64 bytes; expected 128 elements,",
        ),
        (
            np.ones((32, 144), np.uint8),
            {"box": (8, 128), "element": "e3m2_p32"},
            "pads 192 elements of e3m2_p32 in a line at ",
        ),
        (
            FITS,
            {"box": (8, 128), "element": "e3m2_p32"},
            "has elements of e3m2_p32; the array is memref<32x32xf32>",
        ),
    ],
)
def test_maps_that_are_not_valid(array, options, message):
    assert message in refusal(array, **options)


def test_pointer_that_is_not_a_tensor_map():
    text = kernel(load((0, 0), "%none"), [FITS], [], 1024).replace(
        "%c0 =",
        "%nonen = arith.constant 64 : i64\n%none = llvm.inttoptr %nonen : i64 to !llvm.ptr\n%c0 =",
        1,
    )
    with pytest.raises(EmulationError, match="takes a pointer that is not a tensor map"):
        run_text(text, "k", (FITS,), shared=1032)


def test_maps_are_the_last_arguments():
    text = kernel("", [FITS], [map_type((8, 8), "f32", "none", 1)], 1024)
    head, _, tail = text.partition("(")
    parameters, _, rest = tail.partition(") kernel")
    a, b = parameters.split(", %map0", 1)
    text = f"{head}(%map0{b}, {a}) kernel{rest}"
    with pytest.raises(EmulationError, match=r"tensor maps at \[0\] of its 2 arguments; expected"):
        run_text(text, "k", (FITS,), shared=1032)


# Copies that the emulator does not know.


def test_loads_to_one_other_cta():
    peer = "%peer = nvvm.mapa %at, %i1 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    text = kernel(
        peer + load((0, 0)).replace("%to, %map0", "%peer, %map0"),
        [FITS],
        [map_type((8, 8), "f32", "none", 1)],
        1024,
        "attributes {known_cluster_size = array<i32: 2, 1, 1>}",
    )
    with pytest.raises(EmulationError, match="writes to another CTA without a multicast mask"):
        run_text(text, "k", (FITS,), 32, 2, shared=1032)


def test_maps_that_fill_with_nan():
    nan = map_type((8, 8), "f32", "none", 1).replace("swizzle =", 'oob = "nan", swizzle =')
    text = kernel(load((0, 0)), [FITS], [nan], 1024)
    with pytest.raises(EmulationError, match='fills elements outside of the array with "nan"'):
        run_text(text, "k", (FITS,), shared=1032)


def test_more_mbarriers_than_the_emulator_knows():
    body = """%most = arith.constant 66 : index
    %few = arith.constant 128 : i32
    scf.if %first { scf.for %n = %c1 to %most step %c1 {
      %n32 = arith.index_cast %n : index to i32
      %own = llvm.getelementptr %bar[%n32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
      nvvm.mbarrier.init %own, %i1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.arrive.expect_tx %own, %few : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map0, %own, box[%i0, %i0]
        : !llvm.ptr<7>, !llvm.ptr
      nvvm.mbarrier.try_wait.parity %own, %i0, %ticks : !llvm.ptr<3>, i32, i32
    } }"""
    text = kernel(body, [FITS], [map_type((8, 4), "f32", "none", 1)], 1024)
    run_text(text.replace("constant 66", "constant 65"), "k", (FITS,), shared=2048)
    with pytest.raises(EmulationError, match="more than 64 mbarriers at which bulk copies"):
        run_text(text, "k", (FITS,), shared=2048)


@pytest.mark.parametrize("policy", ["evict_first", "evict_last"])
def test_cache_policy_changes_nothing(policy):
    asm = f"createpolicy.fractional.L2::{policy}.b64 $0, 1.0;"
    policy_line = f'%policy = llvm.inline_asm "{asm}", "=l" : () -> i64\n'
    body = load((0, 0)).replace("%x1]\n", "%x1] l2_cache_hint = %policy\n")
    assert "%policy" in body
    assert not faults_of_copies(policy_line + body + WAIT)
