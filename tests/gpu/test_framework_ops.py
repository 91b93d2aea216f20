"""`torch.ops.mlir_smem.matmul` and `jax_op.matmul` on the chip, in compiled programs."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def torch_op():
    from mlir_smem.kernels.gemm import torch_op

    return torch_op


@pytest.fixture
def jax_op():
    pytest.importorskip("jax", reason="JAX is not installed")
    from mlir_smem.kernels.gemm import jax_op

    return jax_op


SHAPES = [
    ((256, 512), (512, 384)),
    ((64, 4096), (4096, 4096)),
    ((128, 16384), (16384, 128)),
    ((300, 1001), (1001, 77)),
    ((3, 1, 64, 128), (5, 128, 96)),
]


def integers(*shape, grad=False):
    tensor = torch.randint(-2, 3, shape, device="cuda").bfloat16()
    return tensor.requires_grad_(grad)


@pytest.mark.parametrize("a, b", SHAPES, ids=str)
def test_pytorch_accepts_the_op(torch_op, a, b):
    torch.library.opcheck(
        torch.ops.mlir_smem.matmul, (integers(*a, grad=True), integers(*b, grad=True))
    )


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_a_compiled_layer_and_its_gradient(torch_op, mode):
    def loss(product):
        return lambda x, w: (product(x, w.mT).float().relu() * 0.125).sum()

    x, w = integers(64, 1024, grad=True), integers(512, 1024, grad=True)
    compiled = torch.compile(loss(torch_op.matmul), fullgraph=True, mode=mode)
    for _ in range(4):
        x.grad = w.grad = None
        compiled(x, w).backward()
        gradients = x.grad.clone(), w.grad.clone()
        x.grad = w.grad = None
        loss(torch.matmul)(x, w).backward()
        # Sums of 1,024 products of small integers are exact; gradients are multiples of 1/8.
        assert torch.equal(gradients[0], x.grad)
        assert torch.equal(gradients[1], w.grad)


def test_compiled_code_takes_any_shape(torch_op):
    compiled = torch.compile(torch_op.matmul, fullgraph=True, dynamic=True)
    for m, n, k in [(64, 128, 256), (200, 136, 72), (77, 33, 129), (16, 4096, 4096)]:
        a, b = integers(m, k), integers(k, n)
        assert torch.equal(compiled(a, b).double(), (a.double() @ b.double()).bfloat16().double())


@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("a, b", SHAPES, ids=str)
def test_a_program_of_jax(jax_op, a, b, transposed):
    import jax
    import jax.numpy as jnp
    import numpy as np

    random = np.random.default_rng(1)
    shapes = [(*s[:-2], *s[:-3:-1]) if t else s for s, t in zip((a, b), transposed, strict=True)]
    first, second = (jnp.asarray(random.integers(-2, 3, s), "bfloat16") for s in shapes)
    flags = {"transpose_a": bool(transposed[0]), "transpose_b": bool(transposed[1])}

    @jax.jit
    def program(x, y):
        # What is before and after the product runs on the same stream.
        return jax_op.matmul(x * 2, y + 1, out_dtype="float32", **flags) * 0.5

    for _ in range(3):
        product = program(first, second)
    x, y = (np.asarray(operand, np.float64) for operand in (first, second))
    x, y = (
        operand.swapaxes(-1, -2) if t else operand
        for operand, t in zip((x, y), transposed, strict=True)
    )
    assert np.array_equal(np.asarray(product, np.float64), x @ (y + 1))


@pytest.mark.parametrize("dtype", ["int8", "float8_e4m3fn"])
def test_types_that_are_read_k_major_only(jax_op, dtype):
    import jax
    import jax.numpy as jnp
    import numpy as np

    random = np.random.default_rng(2)
    a, b = (jnp.asarray(random.integers(-2, 3, s), dtype) for s in ((100, 200), (200, 60)))
    product = jax.jit(jax_op.matmul)(a, b)
    expected = np.asarray(a, np.int64) @ np.asarray(b, np.int64)
    assert jnp.array_equal(product, jnp.asarray(expected).astype(product.dtype))


def test_gradients_and_vmap_of_jax(jax_op):
    import jax
    import jax.numpy as jnp
    import numpy as np

    random = np.random.default_rng(3)
    a, b = (jnp.asarray(random.integers(-2, 3, s), "bfloat16") for s in ((4, 64, 96), (96, 40)))

    def loss(product):
        def product_sum(a, b):
            return product(a, b).astype("float32").sum()

        return jax.jit(jax.grad(lambda a, b: jax.vmap(product_sum, (0, None))(a, b).sum(), (0, 1)))

    for ours, theirs in zip(loss(jax_op.matmul)(a, b), loss(jnp.matmul)(a, b), strict=True):
        assert jnp.array_equal(ours, theirs)


def test_a_program_of_jax_does_not_wait_for_the_kernel(jax_op):
    """Calls return long before their kernels have ended."""
    import time

    import jax
    import jax.numpy as jnp

    a = jnp.ones((8192, 8192), "bfloat16")
    program = jax.jit(lambda a: jax_op.matmul(a, a))

    def time_calls():
        start = time.perf_counter()
        results = [program(a) for _ in range(8)]
        dispatched = time.perf_counter() - start
        results[-1].block_until_ready()
        return dispatched, time.perf_counter() - start

    # The first calls allocate the memory of the results, which waits for the GPU.
    time_calls()
    dispatched, finished = time_calls()
    assert finished > 8 * 8192**3 * 2 / 1e15
    assert dispatched < finished / 2
