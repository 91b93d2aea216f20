"""`matmul` on the chip: operands and results that TMA cannot read or write, exact to the bit."""

import pytest

from mlir_smem.kernels.gemm import matmul

torch = pytest.importorskip("torch")

#: Element types, and those of the results.
TYPES = [
    ("bfloat16", "float32"),
    ("float16", "float16"),
    ("float32", "float32"),
    ("float8_e4m3fn", "float32"),
    ("int8", "int32"),
]

SHAPES = [
    (1, 1, 1),
    (3, 5, 7),
    (200, 131, 73),
    (257, 1001, 999),
    (1001, 1003, 1005),
    (64, 4099, 61),
]


def integers(shape, dtype, strides=None, offset=0):
    """Small integers, whose sums of products are exact; in memory of these strides."""
    values = torch.randint(-2, 3, shape, device="cuda").to(torch.float32)
    strides = strides or torch.empty(shape).stride()
    size = 1 + sum((e - 1) * s for e, s in zip(shape, strides, strict=True)) + offset
    memory = torch.zeros(size, device="cuda", dtype=getattr(torch, dtype))
    matrix = memory.as_strided(shape, strides, offset)
    matrix.copy_(values)
    return matrix


def exact_product(a, b):
    return a.double() @ b.double()


@pytest.mark.parametrize("dtype, result", TYPES)
@pytest.mark.parametrize("m, n, k", SHAPES)
def test_dense_operands_of_any_shape(m, n, k, dtype, result):
    a, b = integers((m, k), dtype), integers((k, n), dtype)
    right = exact_product(a, b)
    out = torch.zeros((m, n), device="cuda", dtype=getattr(torch, result))
    for _ in range(2):
        assert (matmul(a, b, out_dtype=out.dtype).double() == right).all()
        matmul(a, b, out)
        assert (out.double() == right).all()


#: Strides of the rows and the columns of a matrix (M, K), and the first element.
PLACES = [
    lambda m, k: ((k + 1, 1), 0),
    lambda m, k: ((k + 8 - k % 8, 1), 3),
    lambda m, k: ((1, m), 0),
    lambda m, k: ((1, m + 5), 1),
    lambda m, k: ((2 * k + 3, 2), 0),
    lambda m, k: ((3, 3 * m + 1), 1),
]


@pytest.mark.parametrize("dtype, result", TYPES)
@pytest.mark.parametrize("of_a", PLACES)
@pytest.mark.parametrize("of_b", PLACES)
def test_operands_of_any_strides(of_a, of_b, dtype, result):
    m, n, k = 190, 131, 77
    a, b = integers((m, k), dtype, *of_a(m, k)), integers((k, n), dtype, *of_b(k, n))
    out = torch.zeros((m, n), device="cuda", dtype=getattr(torch, result))
    for _ in range(2):
        matmul(a, b, out)
        assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize("of_c", PLACES)
def test_results_of_any_strides(of_c):
    m, n, k = 190, 131, 80
    a, b = integers((m, k), "bfloat16"), integers((k, 136), "bfloat16")[:, :n]
    strides, offset = of_c(m, n)
    size = offset + 1 + (m - 1) * strides[0] + (n - 1) * strides[1] + 16
    memory = torch.full((size,), 77.0, device="cuda", dtype=torch.bfloat16)
    out = memory.as_strided((m, n), strides, offset)
    right = memory.clone()
    right.as_strided((m, n), strides, offset).copy_(exact_product(a, b))
    matmul(a, b, out)
    assert torch.equal(memory, right)


def test_batches_of_any_strides():
    a = integers((3, 4, 100, 73), "bfloat16", (33000, 7900, 73, 1))
    b = integers((4, 73, 131), "bfloat16")
    product = matmul(a, b)
    assert product.shape == (3, 4, 100, 131)
    assert (product.double() == exact_product(a, b)).all()


def test_calls_in_a_graph():
    a, b = integers((200, 73), "bfloat16"), integers((73, 131), "bfloat16")
    out = torch.zeros((200, 131), device="cuda", dtype=torch.float32)
    matmul(a, b, out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        matmul(a, b, out)
    a.fill_(1.0)
    for _ in range(2):
        out.zero_()
        graph.replay()
        assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize(
    "rows, columns, size, least",
    [(8192, 8191, 2, 0.4), (8192, 8190, 2, 0.6), (8192, 8191, 1, 0.15)],
)
def test_copies_are_about_as_fast_as_memory(rows, columns, size, least, record_property):
    from mlir_smem.kernels.gemm.call.copies import MatrixCopies
    from mlir_smem.runtime import Matrix

    dtype = {1: torch.int8, 2: torch.int16}[size]
    x = torch.randint(-9, 9, (rows, columns), device="cuda", dtype=dtype)
    y = torch.zeros((rows, 8192), device="cuda", dtype=dtype)
    whole = torch.zeros_like(y)
    stream = torch.cuda.current_stream().cuda_stream
    source = Matrix(x.data_ptr(), (rows, columns), (columns, 1), size)
    target = Matrix(y.data_ptr(), (rows, columns), (8192, 1), size)
    copies = MatrixCopies([(source, target)], x.device.index)
    ways = {
        "padded": lambda: copies.start([(x.data_ptr(), y.data_ptr())], stream),
        "copied": lambda: whole.copy_(y),
    }
    speeds = {}
    for name, way in ways.items():
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        way()
        begin.record()
        for _ in range(20):
            way()
        end.record()
        torch.cuda.synchronize()
        speeds[name] = 2 * y.nbytes * 20 / (begin.elapsed_time(end) / 1e3) / 1e9
        record_property(f"{name}_gigabytes_per_second", round(speeds[name]))
    assert torch.equal(y[:, :columns], x)
    assert speeds["padded"] > least * speeds["copied"]
