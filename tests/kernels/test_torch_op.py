"""`torch.ops.mlir_smem.matmul` without a GPU: a stand-in computes, the rest is what a GPU has."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from mlir_smem.kernels.gemm import torch_op  # noqa: E402
from mlir_smem.kernels.gemm.generator.problem import ProblemError  # noqa: E402

pytestmark = pytest.mark.torch

F32, BF16, E4M3 = torch.float32, torch.bfloat16, torch.float8_e4m3fn


@pytest.fixture(scope="module", autouse=True)
def cpu():
    """Lets PyTorch's CPU multiply where the kernel would; yields the shapes that it multiplied."""
    multiplied = []

    def product(a, b, *, out_dtype=None):
        multiplied.append((tuple(a.shape), tuple(b.shape)))
        return torch_op._meta(a, b, out_dtype=out_dtype).copy_(a.double() @ b.double())

    library = torch.library.Library("mlir_smem", "FRAGMENT")
    library.impl("matmul", product, "CPU")
    yield multiplied
    library._destroy()


def random(*shape, dtype=F32, grad=False):
    """Small integers, whose products have no error."""
    return torch.randint(-3, 4, shape).to(dtype).requires_grad_(grad)


SHAPES = [
    ((5, 7), (7, 8)),
    ((5, 7), (7, 3)),
    ((2, 3, 5, 8), (3, 8, 16)),
    ((16, 8), (4, 8, 16)),
    ((4, 1, 16, 8), (3, 8, 16)),
]


@pytest.mark.parametrize("a, b", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [BF16, F32], ids=str)
def test_pytorch_accepts_the_op(a, b, dtype):
    """Schema, meta function, gradient under autograd and under AOTAutograd with symbols for extents."""
    arguments = random(*a, dtype=dtype, grad=True), random(*b, dtype=dtype, grad=True)
    torch.library.opcheck(torch.ops.mlir_smem.matmul, arguments)


@pytest.mark.parametrize("a, b", SHAPES, ids=str)
def test_gradients_are_those_of_pytorch(a, b):
    pairs = [(random(*a, grad=True), random(*b, grad=True))]
    pairs.append(tuple(x.detach().clone().requires_grad_() for x in pairs[0]))
    for (first, second), product in zip(pairs, (torch_op.matmul, torch.matmul), strict=True):
        y = product(first, second)
        (y * (torch.arange(y.numel()) % 5).view(y.shape)).sum().backward()
    for ours, theirs in zip(*pairs, strict=True):
        assert torch.equal(ours.grad, theirs.grad)


def test_only_needed_gradients_are_computed(cpu):
    a, b = random(16, 8, grad=True), random(8, 24)
    cpu.clear()
    torch_op.matmul(a, b).sum().backward()
    assert cpu == [((16, 8), (8, 24)), ((16, 24), (24, 8))]
    assert b.grad is None


def test_the_gradient_of_a_wider_result_has_the_type_of_the_operands():
    a, b = random(16, 8, dtype=BF16, grad=True), random(8, 24, dtype=BF16)
    torch_op.matmul(a, b, out_dtype=F32).sum().backward()
    assert a.grad.dtype == BF16
    assert torch.equal(a.grad[0], b.float().sum(1).bfloat16())


@pytest.mark.parametrize("extents", [(24, 40, 64), (9, 13, 21)], ids=str)
def test_compiled_code_calls_the_op_for_all_extents(cpu, extents):
    """Rows that are multiples of 16 bytes and others are compiled once each: their results are contiguous
    or not."""
    torch._dynamo.reset()
    compiled = torch.compile(
        lambda x, y: torch_op.matmul(x.relu(), y) + 1,
        fullgraph=True,
        backend="aot_eager",
        dynamic=True,
    )
    with torch._dynamo.config.patch(error_on_recompile=True):
        for extent in extents:
            x, y = random(extent + 1, 16), random(16, extent)
            cpu.clear()
            assert torch.equal(compiled(x, y), x.relu() @ y + 1)
            assert cpu == [((extent + 1, 16), (16, extent))]


@pytest.mark.parametrize(
    "a, b, in_dims",
    [
        ((3, 4, 8), (8, 5), (0, None)),
        ((4, 3, 8), (8, 5), (1, None)),
        ((3, 2, 4, 8), (8, 5, 3), (0, 2)),
        ((4, 8), (2, 8, 5, 3), (None, 3)),
    ],
)
def test_vmap_adds_a_dimension(a, b, in_dims):
    a, b = random(*a), random(*b)
    actual, expected = (
        torch.func.vmap(product, in_dims=in_dims)(a, b)
        for product in (torch_op.matmul, torch.matmul)
    )
    assert torch.equal(actual, expected)


@pytest.mark.parametrize(
    "dtype, result",
    [
        (BF16, BF16),
        (torch.float16, torch.float16),
        (F32, F32),
        (E4M3, BF16),
        (torch.int8, torch.int32),
    ],
    ids=str,
)
def test_the_type_of_the_result(dtype, result):
    a, b = (torch.empty(shape, dtype=dtype, device="meta") for shape in ((16, 32), (32, 16)))
    assert torch_op.matmul(a, b).dtype == result
    if dtype != torch.int8:
        assert torch_op.matmul(a, b, out_dtype=F32).dtype == F32


REFUSED = {
    "no matrix": (lambda: (random(8), random(8, 8)), {}, ProblemError, "A has the shape [8]"),
    "K": (lambda: (random(4, 8), random(7, 8)), {}, RuntimeError, "expected a B of 8 rows"),
    "type": (
        lambda: (random(8, 8).double(),) * 2,
        {},
        ProblemError,
        "A has elements of float64; expected bf16",
    ),
    "types": (
        lambda: (random(8, 8), random(8, 8, dtype=BF16)),
        {},
        ProblemError,
        "A of f32 and B of bf16 do not go together; expected B of f32",
    ),
    "result": (
        lambda: (random(8, 8), random(8, 8)),
        {"out_dtype": torch.int32},
        ProblemError,
        "a GEMM of f32 does not store i32; expected f32 or bf16 or f16",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_meta_function_refuses_what_the_kernel_does(name):
    tensors, options, error, message = REFUSED[name]
    a, b = (tensor.to("meta") for tensor in tensors())
    with pytest.raises(error) as refusal:
        torch_op.matmul(a, b, **options)
    assert message in str(refusal.value)


def test_there_is_no_gradient_of_8_bits():
    a = torch.zeros(16, 16, dtype=E4M3, requires_grad=True)
    with pytest.raises(ProblemError) as error:
        torch_op.matmul(a, a)
    assert str(error.value) == (
        "there is no gradient of a GEMM of f8E4M3FN and f8E4M3FN; expected two of bf16, f16 or f32"
    )
