"""Tensor memory: allocation, accesses by warps, and the operands of mma."""

import pytest
from tcgen05_kernels import (
    ALLOC,
    ARRIVE,
    COMMIT,
    DEALLOC,
    WAIT,
    WAIT_LOAD,
    WAIT_STORE,
    Tcgen05Kernel,
    mma,
    store,
    tmem_address,
)

from mlir_smem.emulator import EmulationError, ViolationKind

PERMIT = "nvvm.tcgen05.relinquish_alloc_permit"
LOAD = (
    "%r = nvvm.tcgen05.ld %p {shape = #nvvm.tcgen05_ldst_shape<shape_16x256b>} : vector<4xi32>\n    "
    + WAIT_LOAD
)
START = "%start = arith.constant dense<7> : vector<4xi32>\n    " + store(
    "s", "start", 0, 0, "16x256b", 4
)

#: All warps store 16 of their lanes, and load them.
KEEPS = Tcgen05Kernel(
    "\n    ".join([START, WAIT_STORE, tmem_address("p", 0, 0, quarter=True), LOAD])
)


def mma_kernel(a, b, descriptor, kind="f16", lane=0, column=0):
    """A kernel that issues one mma with these descriptors."""
    lines = [
        tmem_address("d", lane, column),
        f"scf.if %leader {{{mma('m', kind, a, b, descriptor, False)}\n      {COMMIT}\n    }}",
        ARRIVE,
        WAIT,
    ]
    return Tcgen05Kernel("\n    ".join(lines))


#: f16, K-major without swizzle, 64 x 8 x 16 and 128 x 8 x 16.
A = 0x400 >> 4 | (1024 >> 4) << 16 | (128 >> 4) << 32 | 1 << 46
FORM, FORM_128 = 0x04020010, 0x08020010


def test_correct_kernels_have_no_faults():
    assert KEEPS.run()[0] == []
    assert mma_kernel(A, A, FORM).run()[0] == []
    assert mma_kernel(A, A, FORM, lane=16, column=24).run()[0] == []


# Allocation.


@pytest.mark.parametrize("columns", [0, 16, 33, 48, 1024])
def test_columns_that_cannot_be_allocated(columns):
    fault = Tcgen05Kernel("", columns).only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.line == ALLOC
    assert fault.message == (
        f"allocates {columns} columns of tensor memory; expected a power of two from 32 to 512"
    )


@pytest.mark.parametrize("columns", [32, 64, 512])
def test_columns_that_can_be_allocated(columns):
    assert Tcgen05Kernel("", columns).run()[0] == []


def test_allocation_after_relinquish_alloc_permit():
    fault = KEEPS.without(ALLOC, f"{PERMIT}\n{ALLOC}").only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message == "allocates tensor memory after tcgen05.relinquish_alloc_permit"


def test_allocations_do_not_grow():
    fault = KEEPS.without(PERMIT, ALLOC.replace("%ncols", "%more")).without(
        "%count =", "%more = arith.constant 64 : i32\n%count ="
    )
    assert fault.only_fault().message == (
        "allocates 64 columns of tensor memory after 32; a CTA's allocations must not grow"
    )


def test_allocation_that_is_not_freed():
    fault = KEEPS.without(DEALLOC).only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.line == "gpu.return"
    assert fault.message == (
        "the last thread returns, but columns 480 to 511 of tensor memory are still allocated: "
        "tcgen05.dealloc is missing before it"
    )


@pytest.mark.parametrize(
    "changed, message",
    [
        (DEALLOC.replace("%ncols", "%more"), "frees 64 columns of tensor memory at 0x000001e0"),
        (DEALLOC.replace("%base", "%far"), "frees 32 columns of tensor memory at 0x001001e0"),
        (f"{DEALLOC}\n{DEALLOC}", "at 0x000001e0; allocated: none"),
    ],
)
def test_columns_that_were_not_allocated_are_freed(changed, message):
    more = f"%more = arith.constant 64 : i32\n{tmem_address('far', 16)}\n{changed}"
    fault = KEEPS.without(DEALLOC, more).only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert message in fault.message


def test_allocation_waits_for_free_columns():
    lines = f"""
    %one = arith.constant 1 : i32
    %second = arith.cmpi eq, %warp, %one : i32
    scf.if %second {{
      {ALLOC.replace("%slot", "%data")}
      %a = llvm.load %data : !llvm.ptr<3> -> i32
      %t = llvm.inttoptr %a : i32 to !llvm.ptr<6>
      {DEALLOC.replace("%base", "%t")}
    }}
    scf.if %first {{
      {DEALLOC}
    }}"""
    both = Tcgen05Kernel(lines, 512, end="").without(PERMIT)
    assert both.run()[0] == []
    fault = both.without(DEALLOC).only_fault()
    assert fault.kind is ViolationKind.DEADLOCK


def test_allocation_that_never_gets_columns():
    fault = Tcgen05Kernel("", 512).without(PERMIT, ALLOC).only_fault()
    assert fault.kind is ViolationKind.DEADLOCK
    assert "for 512 columns of tensor memory to be freed" in fault.message


def test_two_allocations_do_not_overlap():
    second = f"{ALLOC.replace('%slot', '%next')}"
    more = KEEPS.without(PERMIT, second).without(
        "%count =",
        "%next = llvm.getelementptr %data[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32\n%count =",
    )
    fault = more.run()[0][-1]
    assert "but columns 448 to 479 of tensor memory are still allocated" in fault.message


def test_columns_that_are_allocated_again_are_uninitialised():
    again = f"gpu.barrier\nscf.if %first {{\n{DEALLOC}\n{ALLOC}\n}}\ngpu.barrier"
    fault = KEEPS.without(PERMIT).without(WAIT_STORE, f"{WAIT_STORE}\n{again}").only_fault()
    assert fault.kind is ViolationKind.UNINITIALISED


# Access.


@pytest.mark.parametrize(
    "place, message",
    [
        (
            tmem_address("p", 0),
            "reads lanes 0 to 15 of columns 480 to 487 of tensor memory; warp 1 reaches lanes 32 to 63 "
            "only",
        ),
        (
            tmem_address("p", 32, quarter=True),
            "lanes 32 to 47 of columns 480 to 487 of tensor memory; warp 0",
        ),
        (
            tmem_address("p", 8, quarter=True),
            "from lane 8 on; expected a multiple of 16 for shape 16x256b",
        ),
        (
            tmem_address("p", 0, 28, quarter=True),
            "reads lanes 0 to 15 of columns 508 to 515 of tensor memory; allocated: columns 480 to "
            "511",
        ),
        (
            tmem_address("p", 0, quarter=True).replace(
                "%pa = arith.ori %address", "%pa = arith.ori %zero"
            ),
            "reads lanes 0 to 15 of columns 0 to 7 of tensor memory; allocated: columns 480 to 511",
        ),
        (
            tmem_address("p", 0, quarter=True).replace(
                "%pa = arith.ori %address", "%pa = arith.addi %t32"
            ),
            "has an address that the threads of warp 0 disagree on",
        ),
    ],
)
def test_loads_of_cells_that_a_warp_cannot_access(place, message):
    fault = KEEPS.without(tmem_address("p", 0, quarter=True), place).only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert message in fault.message


def test_stores_to_cells_that_a_warp_cannot_access():
    fault = KEEPS.without("%sdl = arith.constant 0", "%sdl = arith.constant 64").only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert "writes lanes 64 to 79 of columns 480 to 487 of tensor memory; warp 0" in fault.message


def test_load_of_uninitialised_cells():
    fault = KEEPS.without(START).only_fault()
    assert fault.kind is ViolationKind.UNINITIALISED


def test_load_by_half_a_warp():
    some = f"%few = arith.cmpi ult, %t32, %sixteen : i32\nscf.if %few {{\n{LOAD}\n}}"
    fault = KEEPS.without(LOAD, some).only_fault()
    assert fault.kind is ViolationKind.DIVERGENT
    assert "threads 0 to 15, a part of a warp" in fault.message


# Operands of mma.


@pytest.mark.parametrize(
    "kernel, message",
    [
        (
            mma_kernel(A, A, FORM, lane=32),
            "has D at lane 32 of tensor memory; expected 0 or 16 if M is 64",
        ),
        (
            mma_kernel(A, A, FORM_128, lane=16),
            "has D at lane 16 of tensor memory; expected 0 if M is 128",
        ),
        (
            mma_kernel(A, A, FORM, column=28),
            "writes lanes 0 to 111 of columns 508 to 515 of tensor memory; allocated: columns 480",
        ),
    ],
)
def test_places_that_d_cannot_have(kernel, message):
    fault = kernel.only_fault()
    assert fault.kind is ViolationKind.TENSOR_MEMORY
    assert fault.message.startswith(message)


@pytest.mark.parametrize(
    "kernel, message",
    [
        (
            mma_kernel(A, A, FORM | 1 << 6),
            "has an invalid instruction descriptor: 0x04020050 ",
        ),
        (
            mma_kernel(A, A, FORM, kind="tf32"),
            "invalid instruction descriptor: the type of A is 0; expected 2 (tf32)",
        ),
        (mma_kernel(A | 1 << 14, A, FORM), "has an invalid descriptor of A: 0x"),
        (mma_kernel(A, A & ~(1 << 46), FORM), "has an invalid descriptor of B: 0x"),
    ],
)
def test_mma_with_descriptors_that_are_not_valid(kernel, message):
    fault = kernel.only_fault()
    assert fault.kind is ViolationKind.DESCRIPTOR
    assert fault.line.startswith("nvvm.tcgen05.mma")
    assert message in fault.message


def test_operand_outside_shared_memory():
    fault = mma_kernel(A | 0x3FFF, A, FORM).only_fault()
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert fault.message.startswith("reads A from 0x3fff0 to 0x")


# Forms of mma.


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("cta_1>", "cta_2>", "is of cta_group 2, but an op before it is of 1; all must agree"),
        ("kind<f16>, ", "kind<f16>, collectorOp = #nvvm.tcgen05_mma_collectorop<discard>, ", None),
        ("%me {", "%me scale = %ma {", "the emulator knows plain ones of f16, tf32, f8f6f4, i8"),
    ],
)
def test_forms_of_mma(old, new, words):
    changed = mma_kernel(A, A, FORM).without(old, new)
    if "scale" in new:
        changed = changed.without("i64, i64, i32, i1)", "i64, i64, i32, i1, i64)")
        changed = changed.without(
            "%ma = arith.constant", "%ma = llvm.mlir.constant(3 : i64) : i64 //"
        )
    if words is None:
        assert changed.run()[0] == []
        return
    with pytest.raises(EmulationError, match=words):
        changed.run()
