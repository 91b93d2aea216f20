"""`torch.compile(backend="mlir_smem")` on a GPU, against PyTorch."""

import pytest

from mlir_smem.frontend import from_torch, torch_graphs

pytestmark = pytest.mark.gpu
torch = pytest.importorskip("torch", exc_type=ImportError)
from torch_layers import Layer, check, check_gradients  # noqa: E402

F, bf16 = torch.nn.functional, torch.bfloat16


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
    assert graph.count("mlir_smem") == 4


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
