"""`torch.compile(backend="mlir_smem")` on a GPU, against PyTorch."""

import pytest

from mlir_smem.frontend import from_torch, torch_graphs

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch", exc_type=ImportError)
from torch_layers import Layer, check, check_gradients  # noqa: E402

F, bf16 = torch.nn.functional, torch.bfloat16
attend = F.scaled_dot_product_attention


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()


def r(*shape):
    return torch.randn(*shape, device="cuda").to(bf16)


def test_a_layer_of_a_transformer_of_any_batch():
    layer = Layer(256, 4, 512).cuda()
    before = len(torch_graphs())
    compiled = torch.compile(layer, backend="mlir_smem", dynamic=True)
    with torch.no_grad():
        for batch in (3, 8, 2):
            x = r(batch, 100, 256)
            check(compiled(x), layer(x))
    (graph,) = torch_graphs()[before:]
    assert graph.count("mlir_smem") == 5


def test_gradients():
    layer, x = Layer(256, 4, 512).cuda(), r(2, 64, 256)
    before = len(torch_graphs())
    compiled = torch.compile(layer, backend="mlir_smem")
    check_gradients(compiled, layer, x)
    assert [graph.count("mlir_smem") for graph in torch_graphs()[before:]] == [4, 8]


def test_tensors_at_any_address():
    a, b = r(96 * 64 + 1)[1:].view(96, 64), r(64, 128)
    assert a.data_ptr() % 16 != 0
    compiled = torch.compile(lambda a, b: torch.relu(a @ b), backend="mlir_smem")
    before = len(torch_graphs())
    check(compiled(a, b), torch.relu(a @ b))
    assert torch_graphs()[before].count("mlir_smem") == 1
    check(from_torch(torch.mm, a, b)(a, b), a @ b)


def test_views_and_swiglu():
    def swiglu(x, w, v):
        return F.silu(x @ w) * (x @ v)

    x, w, v = r(64, 256)[:, ::2], r(96, 128).t() / 8, r(128, 200)[:, 17:113] / 8
    compiled = torch.compile(swiglu, backend="mlir_smem")
    before = len(torch_graphs())
    check(compiled(x, w, v), swiglu(x, w, v))
    assert torch_graphs()[before].count("mlir_smem") == 1


def compile_attention(function, *inputs):
    """Compile a function that is attention, check its result, and return its graph."""
    before = len(torch_graphs())
    compiled = torch.compile(function, backend="mlir_smem", fullgraph=True)
    with torch.no_grad():
        check(compiled(*inputs), function(*inputs))
    (graph,) = torch_graphs()[before:]
    return graph


@pytest.mark.parametrize("dim", [64, 96, 128, 192, 256])
@pytest.mark.parametrize(
    ("queries", "keys", "options"),
    [
        (300, 300, {}),
        (300, 300, {"is_causal": True}),
        (200, 520, {"is_causal": True}),
        (520, 200, {"is_causal": True}),
        (1, 520, {"scale": 0.3}),
    ],
    ids=str,
)
def test_attention(dim, queries, keys, options):
    q, k, v = r(2, 4, queries, dim), r(2, 4, keys, dim), r(2, 4, keys, dim)
    graph = compile_attention(lambda q, k, v: attend(q, k, v, **options), q, k, v)
    assert graph.count("mlir_smem") == 1, str(graph)


def test_attention_with_shared_heads():
    q, k, v = r(2, 8, 300, 128), r(2, 2, 300, 128), r(2, 2, 300, 128)
    graph = compile_attention(
        lambda q, k, v: attend(q, k, v, is_causal=True, enable_gqa=True), q, k, v
    )
    assert graph.count("mlir_smem") == 1, str(graph)


def test_attention_between_views():
    def attend_to_qkv(qkv):
        q, k, v = qkv.view(2, 300, 3, 4, 64).permute(2, 0, 3, 1, 4)
        return attend(q, k, v).transpose(1, 2).reshape(2, 300, 256)

    assert compile_attention(attend_to_qkv, r(2, 300, 768)).count("mlir_smem") == 1


def test_attention_of_tensors_at_any_address():
    q = r(2 * 4 * 300 * 64 + 1)[1:].view(2, 4, 300, 64)
    k, v = r(2, 1, 300, 64).expand(2, 4, 300, 64), r(2, 4, 300, 65)[..., :64]
    compiled = torch.compile(attend, backend="mlir_smem")
    before = len(torch_graphs())
    with torch.no_grad():
        check(compiled(q, k, v), attend(*(tensor.contiguous().clone() for tensor in (q, k, v))))
    assert torch_graphs()[before].count("mlir_smem") == 1


def test_attention_with_a_mask_or_gradients_is_left():
    q, k, v = (r(2, 4, 128, 64) for _ in "QKV")
    graph = compile_attention(attend, q, k, v, r(128, 128))
    assert "its mask is the tensor" in str(graph)
    before = len(torch_graphs())
    compiled = torch.compile(attend, backend="mlir_smem")
    compiled(q.requires_grad_(), k, v).sum().backward()
    assert "another result than its first is used" in str(torch_graphs()[before])
