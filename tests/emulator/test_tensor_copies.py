"""Bulk tensor copies, byte for byte, beside a plain model of boxes and swizzles; and their rules."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from kernels import ELEMENTS, faults_of, memref, run_text

from mlir_smem.emulator import EmulationError, Kind

#: Where shared memory begins; the box lies there, its mbarrier behind it.
START = 0x400

WIDTHS = {"none": 0, "32B": 32, "64B": 64, "128B": 128}


def map_type(box, element, swizzle, contiguous, argument=0):
    return (
        f"!llvm.ptr {{smem.tensor_map = {{argument = {argument} : i64, box = array<i64: "
        f'{", ".join(map(str, box))}>, contiguous = {contiguous} : i64, element = "{element}", '
        f'swizzle = "{swizzle}"}}}}'
    )


def kernel(body, arrays, maps, size, attributes=""):
    """A module with a kernel `k` of one warp over an mbarrier %bar and `size` bytes at %at."""
    names = [f"%{name}: {memref(a)}" for name, a in zip("ABCDEF", arrays, strict=False)]
    names += [f"%map{number}: {type_}" for number, type_ in enumerate(maps)]
    numbers = "\n".join(f"%i{n} = arith.constant {n} : i32" for n in (0, 1, 32))
    return f"""gpu.module @m {{
  gpu.func @k({", ".join(names)}) kernel {attributes} {{
    {numbers}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %words = arith.constant {size // 4} : index
    %bytes = arith.constant {size} : i32
    %ticks = arith.constant 1000 : i32
    %tid = gpu.thread_id x
    %first = arith.cmpi eq, %tid, %c0 : index
    %atn = arith.constant {START} : i64
    %at = llvm.inttoptr %atn : i64 to !llvm.ptr<3>
    %to = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr<7>
    %barn = arith.constant {START + size} : i64
    %bar = llvm.inttoptr %barn : i64 to !llvm.ptr<3>
    scf.if %first {{ nvvm.mbarrier.init %bar, %i1 : !llvm.ptr<3>, i32 }}
    gpu.barrier
    {body}
    gpu.return
  }}
}}
"""


def constants(at):
    return "\n".join(f"%x{d} = arith.constant {c} : i32" for d, c in enumerate(at))


def named(at):
    return ", ".join(f"%x{d}" for d in range(len(at)))


def load(at, map_="%map0", more=""):
    """Thread 0 loads a box, the contiguous coordinate first."""
    return f"""{constants(at)}
    scf.if %first {{
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, {map_}, %bar, box[{named(at)}]
        : !llvm.ptr<7>, !llvm.ptr
      {more}
    }}"""


WAIT = "nvvm.mbarrier.try_wait.parity %bar, %i0, %ticks : !llvm.ptr<3>, i32, i32"


def dump(name, size):
    """All threads write the shared bytes to an array of i32."""
    return f"""scf.for %w = %c0 to %words step %c32 {{
      %word = arith.addi %w, %tid : index
      %word32 = arith.index_cast %word : index to i32
      %where = llvm.getelementptr %at[%word32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %value = llvm.load %where : !llvm.ptr<3> -> i32
      memref.store %value, %{name}[%word] : memref<{size // 4}xi32>
    }}"""


def store(at, map_="%map0", end="nvvm.cp.async.bulk.wait_group 0 {read}"):
    """Thread 0 stores the box."""
    return f"""{constants(at)}
    scf.if %first {{
      nvvm.cp.async.bulk.tensor.global.shared.cta {map_}, %at, box[{named(at)}]
        : !llvm.ptr, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      {end}
    }}"""


FILL = """scf.for %w = %c0 to %words step %c32 {
      %word = arith.addi %w, %tid : index
      %word32 = arith.index_cast %word : index to i32
      %where = llvm.getelementptr %at[%word32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %word32, %where : i32, !llvm.ptr<3>
    }"""
FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"


def places(order, box, size, width):
    """For each element of a box, by its indices in the array's order: the offset of its first byte in
    shared memory."""
    for index in itertools.product(*map(range, box)):
        offset, pitch = 0, size
        for dim in order:
            offset, pitch = offset + index[dim] * pitch, pitch * box[dim]
        address = START + offset
        if width:
            bits = width // 16 - 1
            address ^= (address // 128 & bits) * 16
        yield index, address - START


def expected(array, box, order, at, width):
    """The bytes of shared memory after a load; `at` counts in the array's order."""
    found = np.full(int(np.prod(box)) * array.itemsize, 0xEE, np.uint8)
    for index, offset in places(order, box, array.itemsize, width):
        where = tuple(a + i for a, i in zip(at, index, strict=True))
        inside = all(0 <= w < n for w, n in zip(where, array.shape, strict=True))
        value = array[where] if inside else array.dtype.type(0)
        found[offset : offset + array.itemsize] = np.frombuffer(value.tobytes(), np.uint8)
    return found


def numbers(shape, dtype, order="C"):
    random = np.random.default_rng(sum(shape))
    return np.asarray(random.integers(1, 100, shape).astype(dtype), order=order)


def order_of(rank, contiguous):
    return [contiguous, *(d for d in reversed(range(rank)) if d != contiguous)]


def loaded(array, box, swizzle, at, contiguous=None):
    """What a load at coordinates in the array's order leaves in shared memory."""
    contiguous = array.ndim - 1 if contiguous is None else contiguous
    size = int(np.prod(box)) * array.itemsize
    result = np.zeros(size // 4, np.int32)
    maps = [map_type(box, ELEMENTS[array.dtype], swizzle, contiguous)]
    coordinates = [at[d] for d in order_of(array.ndim, contiguous)]
    body = load(coordinates) + "\n" + WAIT + "\n" + dump("B", size)
    run_text(kernel(body, [array, result], maps, size), "k", (array, result), shared=size + 8)
    wanted = expected(array, box, order_of(array.ndim, contiguous), at, WIDTHS[swizzle])
    return result.view(np.uint8), wanted


BF16 = ml_dtypes.bfloat16


@pytest.mark.parametrize("swizzle", WIDTHS)
@pytest.mark.parametrize(
    "dtype, shape, box, contiguous",
    [
        (BF16, (64, 48), (16, 16), 1),
        (np.float32, (40, 24), (24, 8), 1),
        (np.uint8, (40, 80), (32, 32), 1),
        (np.float16, (48, 64), (16, 24), 0),
        (BF16, (3, 24, 32), (2, 8, 16), 2),
        (BF16, (2, 3, 8, 24), (1, 2, 8, 16), 3),
    ],
)
def test_a_box_is_loaded(dtype, shape, box, contiguous, swizzle):
    array = numbers(shape, dtype, "C" if contiguous else "F")
    at = tuple(min(1, n - b) for n, b in zip(shape, box, strict=True))
    found, wanted = loaded(array, box, swizzle, at, contiguous)
    assert (found == wanted).all()


@pytest.mark.parametrize("swizzle, inner", [("32B", 16), ("64B", 32), ("128B", 64)])
def test_rows_as_wide_as_the_swizzle(swizzle, inner):
    found, wanted = loaded(numbers((64, 128), BF16), (32, inner), swizzle, (8, 16))
    assert (found == wanted).all()


@pytest.mark.parametrize(
    "at",
    [
        (-3, 0),
        (0, -5),
        (-16, -16),
        (-40, 3),
        (30, 40),
        (37, 0),
        (40, 0),
        (1000, 0),
        (5, 63),
        (-8, 60),
    ],
)
def test_what_is_out_of_bounds_is_zero(at):
    found, wanted = loaded(numbers((40, 64), BF16), (16, 16), "32B", at)
    assert (found == wanted).all()


@pytest.mark.parametrize("at", [(0, 0), (3, 8), (-3, -5), (30, 60), (100, 0), (-16, 0)])
@pytest.mark.parametrize("swizzle", ["none", "64B", "128B"])
def test_a_box_is_stored_and_clipped(swizzle, at):
    box, size = (16, 16), 16 * 16 * 4
    result = np.full((40, 64), 7, np.int32)
    maps = [map_type(box, "f32", swizzle, 1)]
    body = f"{FILL}\n{FENCE}\ngpu.barrier\n{store(at[::-1])}"
    text = kernel(body, [result.view(np.float32)], maps, size)
    run_text(text, "k", (result.view(np.float32),), shared=size + 8)
    wanted = np.full((40, 64), 7, np.int32)
    for (i, j), offset in places([1, 0], box, 4, WIDTHS[swizzle]):
        if 0 <= at[0] + i < 40 and 0 <= at[1] + j < 64:
            wanted[at[0] + i, at[1] + j] = offset // 4
    assert (result == wanted).all()


def test_a_load_is_stored_without_a_fence():
    given, result = numbers((32, 32), BF16), np.zeros((32, 32), BF16)
    maps = [map_type((32, 32), "bf16", "64B", 1, n) for n in (0, 1)]
    body = f"{load((0, 0))}\n{WAIT}\n{store((0, 0), '%map1').replace('%x', '%y')}"
    run_text(kernel(body, [given, result], maps, 2048), "k", (given, result), shared=2056)
    assert (given == result).all()


# Rules.


def wrong(body, size=1024, box=(16, 16), swizzle="none", attributes=""):
    """What a kernel does wrong that copies boxes of an array of 32x32 f32."""
    array = np.ones((32, 32), np.float32)
    result = np.zeros(size // 4, np.int32)
    text = kernel(body, [array, result], [map_type(box, "f32", swizzle, 1)], size, attributes)
    return faults_of(text, "k", (array, result), shared=size + 8)


def only(*arguments, **options):
    found = wrong(*arguments, **options)
    assert len(found) == 1, found
    return found[0]


AGAIN = """%again = llvm.getelementptr %at[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
    llvm.store %i0, %again : i32, !llvm.ptr<3>"""


def test_a_read_before_the_copy_is_waited_for():
    found = wrong(load((0, 0)) + dump("B", 1024) + WAIT)
    assert found[0].kind is Kind.COPY_IN_FLIGHT
    assert "may still be writing: a wait for the mbarrier at which it completes" in found[0].message


def test_a_write_before_the_copy_is_waited_for():
    body = load((0, 0)) + f"scf.if %first {{ {AGAIN}\n }}" + WAIT
    fault = only(body)
    assert fault.kind is Kind.COPY_IN_FLIGHT
    assert fault.message.startswith("writes the bytes from 0x400 to 0x403, which the bulk copy at ")


def test_a_copy_that_nobody_waits_for():
    fault = only(load((0, 0)))
    assert fault.kind is Kind.EXITED
    assert "sends to its shared memory may still be under way" in fault.message


def test_a_wait_that_another_thread_makes_is_known_after_a_barrier():
    wait = f"scf.if %first {{ {WAIT}\n }}"
    assert not wrong(load((0, 0)) + wait + "gpu.barrier\n" + dump("B", 1024))
    found = wrong(load((0, 0)) + wait + dump("B", 1024))
    assert [fault.kind for fault in found] == [Kind.COPY_IN_FLIGHT]


def test_a_copy_over_bytes_that_were_written_without_a_fence():
    fault = only(f"{FILL}\ngpu.barrier\n{load((0, 0))}\n{WAIT}")
    assert fault.kind is Kind.UNFENCED
    assert "a bulk copy writes" in fault.message
    assert not wrong(f"{FILL}\n{FENCE}\ngpu.barrier\n{load((0, 0))}\n{WAIT}")


def test_a_copy_over_bytes_that_others_may_read():
    read = f"{FILL}\n{FENCE}\ngpu.barrier\n{dump('B', 1024)}"
    assert Kind.RACE in {f.kind for f in wrong(f"{read}\n{load((0, 0))}\n{WAIT}")}
    assert not wrong(f"{read}\ngpu.barrier\n{load((0, 0))}\n{WAIT}")


def test_a_store_of_bytes_that_are_not_fenced():
    fault = only(f"{FILL}\ngpu.barrier\n{store((0, 0))}")
    assert fault.kind is Kind.UNFENCED
    assert "is missing between the write and the bulk copy" in fault.message


def test_a_store_of_bytes_that_are_fenced_but_not_known():
    fault = only(f"{FILL}\n{FENCE}\n{store((0, 0))}")
    assert fault.kind is Kind.RACE
    assert fault.message.endswith("gpu.barrier is missing after smem.fence")


def test_a_store_of_what_nothing_has_written():
    assert only(store((0, 0))).kind is Kind.UNINITIALISED


@pytest.mark.parametrize(
    "end, again, kind",
    [
        ("", "", None),
        ("", AGAIN, Kind.OVERWRITTEN),
        ("nvvm.cp.async.bulk.wait_group 1 {read}", AGAIN, Kind.OVERWRITTEN),
        ("nvvm.cp.async.bulk.wait_group 0 {read}", AGAIN, None),
        ("nvvm.cp.async.bulk.wait_group 0", AGAIN, None),
    ],
)
def test_a_write_over_what_a_store_reads(end, again, kind):
    last = "\n".join([end, again])
    found = wrong(f"{FILL}\n{FENCE}\ngpu.barrier\n{store((0, 0), end=last)}")
    assert [fault.kind for fault in found] == ([kind] if kind else [])
    if kind:
        assert "cp.async.bulk.wait_group.read are missing before it" in found[0].message


def test_another_thread_writes_after_a_barrier_behind_the_wait():
    ready = f"{FILL}\n{FENCE}\ngpu.barrier\n{store((0, 0))}"
    assert not wrong(f"{ready}\ngpu.barrier\n{FILL}")
    assert [f.kind for f in wrong(f"{ready}\n{FILL}")] == [Kind.RACE]


def test_a_store_that_is_not_committed_is_not_waited_for():
    body = f"{FILL}\n{FENCE}\ngpu.barrier\n{store((0, 0))}\ngpu.barrier\n{FILL}"
    found = wrong(body.replace("nvvm.cp.async.bulk.commit.group", ""))
    assert [fault.kind for fault in found] == [Kind.OVERWRITTEN]


@pytest.mark.parametrize(
    "swizzle, start, fits",
    [
        ("none", 0x480, True),
        ("none", 0x410, False),
        ("32B", 0x500, True),
        ("32B", 0x480, False),
        ("64B", 0x600, True),
        ("64B", 0x500, False),
        ("128B", 0x800, True),
        ("128B", 0x600, False),
    ],
)
def test_the_alignment_of_a_destination(swizzle, start, fits):
    body = load((0, 0)) + WAIT
    box = (4, 8)
    text = body.replace("%bytes :", "%few :")
    move = f"""%few = arith.constant 128 : i32
    %toi = arith.constant {start} : i64
    %two = llvm.inttoptr %toi : i64 to !llvm.ptr<3>
    %tox = llvm.addrspacecast %two : !llvm.ptr<3> to !llvm.ptr<7>
    """
    found = wrong(move + text.replace("%to,", "%tox,"), size=2048, box=box, swizzle=swizzle)
    assert [fault.kind for fault in found] == ([] if fits else [Kind.MISALIGNED])
    if not fits:
        assert f"at shared address {start:#x}; expected a multiple of " in found[0].message


def test_a_box_beyond_shared_memory():
    fault = only(load((0, 0)) + WAIT, size=512)
    assert fault.kind is Kind.OUT_OF_BOUNDS
    assert fault.message.startswith("writes 1024 bytes from shared address 0x400 on; the block's ")


def test_an_mbarrier_that_is_none():
    body = load((0, 0)).replace("%map0, %bar", "%map0, %at")
    assert Kind.UNINITIALISED in {fault.kind for fault in wrong(body)}


def test_bytes_that_nobody_expected():
    fault = only(load((0, 0)).replace("%bytes", "%i32"))
    assert fault.kind is Kind.BARRIER
    assert "with 992 bytes that nobody expected" in fault.message


def test_more_bytes_than_an_mbarrier_counts():
    body = "%many = arith.constant 1048576 : i32\n" + load((0, 0)).replace("%bytes", "%many")
    fault = only(body)
    assert fault.kind is Kind.BARRIER
    assert "wait for 1048576 bytes; at most 1048575 are possible" in fault.message


# Maps that cannot be.


def refused(array, box, element="f32", swizzle="none", contiguous=1, at=(0, 0), argument=0):
    maps = [map_type(box, element, swizzle, contiguous, argument)]
    with pytest.raises(EmulationError) as error:
        run_text(kernel(load(at), [array], maps, 1024), "k", (array,), shared=1032)
    return str(error.value)


FITS = np.ones((32, 32), np.float32)


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
            "a dimension of stride 128 bytes; expected that of 4",
        ),
        (
            FITS,
            {"box": (8, 8), "element": "bf16"},
            "elements of bf16; the array is memref<32x32xf32>",
        ),
        (FITS, {"box": (8, 8, 8)}, "a box of 3 dimensions; expected those of memref<32x32xf32>"),
        (FITS, {"box": (8, 8), "argument": 4}, "describes argument 4, which is no array"),
        (
            FITS,
            {"box": (8, 8), "at": (0, 0, 0)},
            "has 3 coordinates for the tensor map of argument 0",
        ),
        (
            np.ones((32, 30), np.float32),
            {"box": (8, 8)},
            "an array of strides [4, 120] bytes; expected multiples of 16 but for the first",
        ),
        (
            np.ones((0, 32), np.float32),
            {"box": (8, 8)},
            "describes [32, 0] elements; expected some",
        ),
    ],
)
def test_a_map_that_cannot_be(array, options, message):
    assert message in refused(array, **options)


def test_a_pointer_that_is_no_map():
    text = kernel(load((0, 0), "%none"), [FITS], [], 1024).replace(
        "%c0 =",
        "%nonen = arith.constant 64 : i64\n%none = llvm.inttoptr %nonen : i64 to !llvm.ptr\n%c0 =",
        1,
    )
    with pytest.raises(EmulationError, match="is given a pointer that is no tensor map"):
        run_text(text, "k", (FITS,), shared=1032)


def test_maps_stand_behind_the_arguments():
    text = kernel("", [FITS], [map_type((8, 8), "f32", "none", 1)], 1024)
    head, _, tail = text.partition("(")
    parameters, _, rest = tail.partition(") kernel")
    a, b = parameters.split(", %map0", 1)
    text = f"{head}(%map0{b}, {a}) kernel{rest}"
    with pytest.raises(EmulationError, match=r"tensor maps at \[0\] of its 2 arguments; expected"):
        run_text(text, "k", (FITS,), shared=1032)


# What the emulator does not know.


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            ": !llvm.ptr<7>, !llvm.ptr",
            "predicate = %first : !llvm.ptr<7>, !llvm.ptr",
            "is predicated",
        ),
        ("%to, %map0", "%peer, %map0", "writes to another block without a multicast mask"),
    ],
)
def test_a_load_of_another_kind(old, new, message):
    peer = "%peer = nvvm.mapa %at, %i1 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    text = kernel(
        peer + load((0, 0)).replace(old, new),
        [FITS],
        [map_type((8, 8), "f32", "none", 1)],
        1024,
        "attributes {known_cluster_size = array<i32: 2, 1, 1>}",
    )
    with pytest.raises(EmulationError, match=message):
        run_text(text, "k", (FITS,), 32, 2, shared=1032)


def test_a_predicated_store():
    body = store((0, 0)).replace(": !llvm.ptr, ", ", predicate = %first : !llvm.ptr, ")
    with pytest.raises(EmulationError, match="is predicated, or of mode"):
        wrong(body)


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
    with pytest.raises(EmulationError, match="complete at more than 64 mbarriers"):
        run_text(text, "k", (FITS,), shared=2048)
