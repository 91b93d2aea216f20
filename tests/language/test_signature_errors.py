"""Mistakes in signatures, and in the arguments of a trace."""

import pytest
from kernel_failures import F

import mlir_smem.language as sl


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("(M,K", "is malformed at '(M,K'"),
        ("(M,K),", "ends with a comma"),
        ("(M,-1)", "has '-1' as an extent"),
        ("(M,K):(?,1,1)", "has 2 extents, but 3 strides"),
        ("(M,K):(?,x)", "has 'x' as a stride"),
        ("(M,K):f3", "'f3' is no element type"),
        ("(M,K), (M,K)", "has 2 parameters, but kernel has 1: A"),
    ],
)
def test_signatures(signature, expected):
    def kernel(A):
        pass

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel(signature)(kernel)
    assert expected in str(caught.value)


def test_arguments_of_a_trace():
    @sl.kernel("(M,64), (M,64):f16", sync="manual")
    def kernel(A, B, *, rows=64, columns):
        pass

    with pytest.raises(sl.TraceError, match=r"kernel takes 2 arguments \(A, B\), not 1"):
        kernel.trace(F)
    with pytest.raises(sl.TraceError, match="B of kernel is of f32; expected f16"):
        kernel.trace(F, F, columns=1)
    with pytest.raises(sl.TraceError, match="kernel needs the constant columns"):
        kernel.trace(F, sl.f16)
    with pytest.raises(sl.TraceError, match="has no constant depth; it has rows, columns"):
        kernel.trace(F, sl.f16, depth=1)
    with pytest.raises(
        sl.TraceError, match="has no constant colums; it has rows, columns, and options"
    ):
        kernel.ptx(F, sl.f16, columns=1, colums=2)
    with pytest.raises(sl.TraceError, match="is no element type; expected an array, or one of"):
        kernel.trace("float", sl.f16, columns=1)


def test_parameters_of_a_kernel():
    def some(*arrays):
        pass

    def option(A, *, arch):
        pass

    with pytest.raises(sl.TraceError, match=r"a kernel is a function with a name, .* not <lambda>"):
        sl.kernel("(M,K)")(lambda A: None)
    with pytest.raises(sl.TraceError, match="a kernel has a fixed number of them"):
        sl.kernel("(M,K)")(some)
    with pytest.raises(sl.TraceError, match="has the constant arch, which is an option of a call"):
        sl.kernel("(M,K)")(option)
    with pytest.raises(sl.TraceError, match='sync is \'none\'; expected "auto", or "manual"'):
        sl.kernel("(M,K)", sync="none")
