"""`attention` in graphs of PyTorch: one op with a meta function, on the emulator."""

import pytest

from mlir_smem.kernels.attention import attention

torch = pytest.importorskip("torch", exc_type=ImportError)

pytestmark = pytest.mark.torch


def tensors():
    torch.manual_seed(0)
    shapes = (1, 20, 2, 64), *[(1, 30, 1, 64)] * 2
    return [torch.randn(shape).bfloat16() for shape in shapes]


def with_lse(q, k, v):
    o, lse = attention(q * 2, k, v, causal=True, return_lse=True, on="cpu")
    return o.flatten(2) + 1, lse


def in_a_window(q, k, v):
    by_heads = [x.transpose(1, 2) for x in (q, k, v)]
    o = attention(*by_heads, window=(20, 3), scale=0.1, layout="bhsd", on="cpu")
    return (o.transpose(1, 2),)


def attend_packed(q, k, v):
    starts = {
        "cu_seqlens_q": torch.tensor([0, 8, 20], dtype=torch.int32),
        "cu_seqlens_k": torch.tensor([0, 20, 30], dtype=torch.int32),
        "max_seqlen_q": 12,
    }
    return attention(q[0], k[0], v[0], **starts, return_lse=True, on="cpu")


def of_e4m3(q, k, v):
    operands = [(x * 2).to(torch.float8_e4m3fn) for x in (q, k, v)]
    factors = {"q_descale": 0.5, "k_descale": 0.5, "v_descale": torch.full((1, 1), 0.5)}
    return (attention(*operands, **factors, on="cpu") * 2,)


@pytest.mark.parametrize(
    "function", [with_lse, in_a_window, pytest.param(attend_packed, id="packed"), of_e4m3]
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_graph_keeps_it_whole(function, dynamic):
    ops = []

    def backend(graph, _):
        ops.extend(str(node.target) for node in graph.graph.nodes)
        return graph

    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
    inputs = tensors()
    for actual, expected in zip(compiled(*inputs), function(*inputs), strict=True):
        assert torch.equal(actual, expected)
    assert sum("mlir_smem" in op for op in ops) == 1


@pytest.mark.parametrize("return_lse", [False, True])
@pytest.mark.parametrize("layout", ["bshd", "bhsd"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_meta_function_is_right(return_lse, layout, is_packed):
    from mlir_smem.kernels.attention.call.torch_op import OP

    options = {"causal": True, "left": None, "right": None, "scale": None, "layout": layout}
    options |= {"return_lse": return_lse, "factors": [1.0, 1.0, 1.0], "on": "cpu"}
    operands, starts = tensors(), (None, None)
    if is_packed:
        operands = [x[0] for x in operands]
        starts = [torch.tensor(x, dtype=torch.int32) for x in ([0, 8, 20], [0, 20, 30])]
    if layout == "bhsd":
        operands = [x.transpose(-2, -3).contiguous() for x in operands]
    options["max_seqlen_q"] = 12 if is_packed else None
    outcomes = torch.library.opcheck(OP, (*operands, *starts, None, None, None), options)
    assert set(outcomes.values()) == {"SUCCESS"}


def test_what_a_graph_does_not_take():
    def into(q, k, v):
        return attention(q, k, v, out=torch.empty_like(q), on="cpu")

    with pytest.raises(Exception, match="out, config and stream are not taken in a graph"):
        torch.compile(into, backend="eager", fullgraph=True)(*tensors())
