"""`matmul` on the chip: shapes that split K, few rows, batches, and epilogues in Python."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import mlir_smem.language as sl
from mlir_smem.kernels.gemm import Config, Problem, activations, choose, matmul, prepare
from mlir_smem.kernels.gemm.generator.candidates import rank

torch = pytest.importorskip("torch")

DTYPES = {"bf16": torch.bfloat16, "f32": torch.float32}

SPLIT = Config(tile=(64, 64, 64), consumers=1, store_columns=64, split_k=4)


def integers(*shape, dtype=None, by_columns=False):
    """Small integers, whose sums of products are exact in f32."""
    *batch, rows, columns = shape
    extents = (*batch, columns, rows) if by_columns else shape
    matrix = torch.randint(-2, 3, extents, device="cuda").to(dtype or torch.bfloat16)
    return matrix.mT if by_columns else matrix


def exact_product(a, b):
    return a.double() @ b.double()


SHAPES = [
    (1, 4096, 4096),
    (16, 4096, 4096),
    (64, 4096, 4096),
    (128, 128, 16384),
    (256, 256, 8192),
    (512, 512, 512),
    (1000, 1000, 1000),
    (8, 16, 8),
    (3000, 1200, 5000),
    (256, 6144, 4096),
]


def test_a_thread_in_which_no_gpu_is_current():
    """It has the kernel that another thread loaded, at another shape."""
    a, b = integers(512, 128), integers(128, 512)
    config = Config(tile=(64, 64, 64), consumers=1, store_columns=64, cluster=(2, 1))
    out = torch.empty((512, 512), device="cuda")
    matmul(a, b, out, config=config)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(matmul, a[:256], b, out[:256].zero_(), config=config).result()
    torch.cuda.synchronize()
    assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize("b_by_columns", [False, True])
@pytest.mark.parametrize("m, n, k", SHAPES)
def test_the_chosen_configuration_is_right(m, n, k, b_by_columns):
    a, b = integers(m, k), integers(k, n, by_columns=b_by_columns)
    out = torch.full((m, n), torch.nan, device="cuda")
    for _ in range(3):
        matmul(a, b, out)
        assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize("m, n, k", [(64, 4096, 4096), (128, 128, 16384), (1000, 1000, 1000)])
def test_each_configuration_of_the_ranking_is_right(m, n, k):
    a, b = integers(m, k), integers(k, n)
    out, right = torch.empty((m, n), device="cuda"), exact_product(a, b)
    ranked = rank(Problem(c="f32"), m, n, k)
    for config in [candidate.config for candidate in ranked][:: max(1, len(ranked) // 12)]:
        out.fill_(torch.nan)
        matmul(a, b, out, config=config)
        assert (out.double() == right).all(), config


@pytest.mark.parametrize("split_k", [2, 3, 7, 16])
@pytest.mark.parametrize("cluster", [(1, 1), (2, 1), (1, 2)])
def test_split_k(split_k, cluster):
    a, b = integers(300, 2000), integers(2000, 520)
    config = replace(SPLIT, split_k=split_k, cluster=cluster)
    out = torch.empty((300, 520), device="cuda")
    matmul(a, b, out, config=config)
    assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize("m, n", [(2048 + 128, 2048), (1408, 1536), (4096, 3000)])
def test_stream_k(m, n):
    """A last wave that is not full."""
    a, b = integers(m, 1024), integers(1024, n)
    out = torch.empty((m, n), device="cuda")
    matmul(a, b, out, config=Config(split_k=2, store_columns=64))
    assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize("tile_n", [16, 64, 128])
@pytest.mark.parametrize("cluster_k", [2, 4, 8, 16])
@pytest.mark.parametrize("c", ["bf16", "f32"])
def test_parts_in_a_cluster(c, cluster_k, tile_n):
    a, b = integers(300, 2000), integers(2000, 520)
    columns = min(max(tile_n // cluster_k, 8), 32)
    config = Config((128, tile_n, 64), cluster_k=cluster_k, store_columns=columns)
    out = torch.empty((300, 520), device="cuda", dtype=DTYPES[c])
    for _ in range(3):
        out.fill_(torch.nan)
        matmul(a, b, out, config=config)
        assert (out.double() == exact_product(a, b).to(DTYPES[c]).double()).all()


@pytest.mark.parametrize("n, parts", [(128, "cluster_k"), (4096, "split_k")])
def test_results_are_equal_in_every_bit(n, parts):
    a, b = (torch.randn(s, device="cuda").bfloat16() for s in ((128, 16384), (16384, n)))
    assert getattr(choose(Problem(), 128, n, 16384), parts) > 1
    first = matmul(a, b)
    for _ in range(50):
        assert torch.equal(matmul(a, b), first)


def test_streams_do_not_share_a_workspace():
    a, b = integers(128, 4096), integers(4096, 128)
    right = exact_product(a, b)
    streams = [torch.cuda.Stream() for _ in range(4)]
    torch.cuda.synchronize()
    products = []
    for number in range(40):
        with torch.cuda.stream(streams[number % 4]):
            products.append(matmul(a, b, out_dtype=torch.float32, config=SPLIT))
    torch.cuda.synchronize()
    assert all((product.double() == right).all() for product in products)


def test_a_split_product_in_a_graph():
    a, b = integers(128, 4096), integers(4096, 128)
    out = torch.zeros((128, 128), device="cuda")
    right = exact_product(a, b)
    # The workspace of the capture's stream is made during the capture.
    graph = torch.cuda.CUDAGraph()
    matmul(a, b, out, config=SPLIT)
    with torch.cuda.graph(graph):
        matmul(a, b, out, config=SPLIT)
    for _ in range(3):
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        assert (out.double() == right).all()


def test_a_prepared_split_product():
    a, b = integers(128, 4096), integers(4096, 128)
    out = torch.zeros((128, 128), device="cuda")
    launch = prepare(a, b, out, config=SPLIT)
    for _ in range(3):
        launch.launch()
    torch.cuda.synchronize()
    assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize(
    "a_shape, b_shape",
    [
        ((5, 136, 200), (5, 200, 72)),
        ((4, 3, 64, 128), (3, 128, 64)),
        ((4, 1, 64, 128), (3, 128, 64)),
        ((6, 136, 200), (200, 72)),
        ((136, 200), (6, 200, 72)),
        ((16, 1, 256), (256, 512)),
        ((2, 3, 4, 64, 64), (2, 1, 4, 64, 64)),
    ],
)
@pytest.mark.parametrize("b_by_columns", [False, True])
def test_batches(a_shape, b_shape, b_by_columns):
    a, b = integers(*a_shape), integers(*b_shape, by_columns=b_by_columns)
    product = matmul(a, b, out_dtype=torch.float32)
    right = exact_product(a, b)
    assert product.shape == right.shape and (product.double() == right).all()


def test_batches_that_are_strided():
    a = integers(8, 4, 64, 128).transpose(0, 1)
    b = integers(4, 8, 128, 64)
    out = torch.empty((4, 8, 64, 96), device="cuda")[..., :64]
    matmul(a, b, out)
    assert (out.double() == exact_product(a, b)).all()


@pytest.mark.parametrize(
    "shape", [(512, 768, 256), (16, 4096, 4096), (128, 128, 16384), (200, 136, 72)]
)
def test_an_epilogue_with_every_operand(shape):
    m, n, k = shape
    a, b = integers(m, k), integers(k, n)
    bias, scale = torch.randn(n, device="cuda").bfloat16(), torch.randn((m, 1), device="cuda")
    residual = torch.randn((m, n), device="cuda").half()

    def epilogue(x, row, col, bias, scale, residual, alpha):
        y = sl.maximum(x * alpha + bias, 0.0) * scale + residual
        return sl.where(col <= row, y, -1.0)

    operands = {"bias": bias, "scale": scale, "residual": residual, "alpha": 0.25}
    measured = matmul(a, b, epilogue=epilogue, operands=operands, out_dtype=torch.float32)
    product = exact_product(a, b).float()
    y = torch.relu(product * 0.25 + bias.float()) * scale + residual.float()
    right = torch.where(
        torch.arange(n, device="cuda") <= torch.arange(m, device="cuda")[:, None], y, -1.0
    )
    torch.testing.assert_close(measured, right, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "name, theirs",
    [
        ("relu", torch.nn.functional.relu),
        ("silu", torch.nn.functional.silu),
        ("sigmoid", torch.sigmoid),
        ("gelu", torch.nn.functional.gelu),
        ("gelu_tanh", lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    ],
)
def test_activations(name, theirs):
    a, b = (
        torch.randn((256, 128), device="cuda").bfloat16(),
        torch.eye(128, device="cuda").bfloat16(),
    )
    function = getattr(activations, name)
    measured = matmul(a, b, epilogue=function, out_dtype=torch.float32)
    torch.testing.assert_close(measured, theirs(a.float()), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("gated", ["interleaved", "halves"])
@pytest.mark.parametrize("m, n, k", [(512, 768, 256), (200, 136, 4096)])
def test_gated_products(gated, m, n, k):
    a, b = integers(m, k), integers(k, 2 * n, by_columns=True)
    measured = matmul(
        a,
        b,
        epilogue=lambda gate, x: activations.silu(gate) * x,
        gated=gated,
        out_dtype=torch.float32,
    )
    product = exact_product(a, b).float()
    first, second = (
        (product[:, ::2], product[:, 1::2]) if gated == "interleaved" else product.chunk(2, 1)
    )
    right = torch.nn.functional.silu(first) * second
    torch.testing.assert_close(measured, right, rtol=2e-6, atol=2e-5)


def test_two_results():
    a, b = integers(300, 200), integers(200, 136)
    y, x = matmul(
        a, b, epilogue=lambda x: (sl.maximum(x, 0.0), x), out_dtype=(torch.bfloat16, torch.float32)
    )
    right = exact_product(a, b)
    assert (x.double() == right).all()
    assert torch.equal(y, torch.relu(right).bfloat16())


def test_integers_with_scales_to_floats():
    a, b = (
        torch.randint(-9, 10, s, device="cuda", dtype=torch.int8) for s in ((128, 256), (256, 64))
    )
    scale = torch.randn(64, device="cuda")
    measured = matmul(
        a,
        b,
        epilogue=lambda x, scale: x.to(sl.f32) * scale,
        operands={"scale": scale},
        out_dtype=torch.float32,
    )
    assert torch.equal(measured, exact_product(a, b).float() * scale)
