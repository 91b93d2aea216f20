"""The main loop of a kernel in PTX, as the benchmark of other hosts' kernels counts it."""

import pytest
from foreign_kernels import ptx
from main_loop import count_loop

PTX = """
	mov.u32 	%r1, 0;
$L__BB0_1:
	add.s64 	%rd1, %rd2, 2;
	// begin inline asm
	{
.reg .pred p;
setp.ne.b32 p, 1, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, p, 1, 1, 0, 0;
}
	// end inline asm
$L__BB0_2:
	cp.async.cg.shared.global [%r1], [%rd3], 16;
	@%p2 bra 	$L__BB0_2;
	@%p3 bra 	$L__BB0_3;
	bar.sync 	0;
	wgmma.fence.sync.aligned;
$L__BB0_3:
	@%p1 bra 	$L__BB0_1;
	ret;
"""


def test_a_loop_with_another_in_it():
    """Always: the add, the predicate and two branches. The barrier and the fence are behind a branch, and
    the loop within is not counted."""
    loop = count_loop(ptx(PTX))
    assert (loop.count, loop.per_matrix_instruction()) == (1, "4.00 + 2.00")


def test_a_loop_whose_text_ends_before_its_other_half():
    """The compiler moved half of the body behind the end of the kernel."""
    moved = """
$L__BB0_1:
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %rd1, %rd2, p, 1, 1, 0, 0;
	bra.uni 	$L__BB0_3;
$L__BB0_2:
	@%p1 bra 	$L__BB0_1;
	ret;
$L__BB0_3:
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %rd1, %rd2, p, 1, 1, 0, 0;
	bar.sync 	0;
	bra.uni 	$L__BB0_2;
"""
    loop = count_loop(ptx(moved))
    assert (loop.count, loop.per_matrix_instruction()) == (2, "2.00")


def test_a_kernel_without_a_loop_that_multiplies():
    with pytest.raises(ValueError, match="multiplies matrices"):
        count_loop(ptx(PTX.replace("wgmma.mma_async", "mma")))
