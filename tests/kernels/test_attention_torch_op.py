"""`attention` in graphs of PyTorch: one op with a meta function, on the emulator."""

import pytest

from mlir_smem.kernels.attention import attention

torch = pytest.importorskip("torch", exc_type=ImportError)


def tensors():
    torch.manual_seed(0)
    shapes = (1, 70, 2, 64), *[(1, 90, 1, 64)] * 2
    return [torch.randn(shape).bfloat16() for shape in shapes]


def with_lse(q, k, v):
    o, lse = attention(q * 2, k, v, causal=True, return_lse=True, on="cpu")
    return o.flatten(2) + 1, lse


def in_a_window(q, k, v):
    by_heads = [each.transpose(1, 2) for each in (q, k, v)]
    o = attention(*by_heads, window=(20, 3), scale=0.1, layout="bhsd", on="cpu")
    return (o.transpose(1, 2),)


@pytest.mark.parametrize("function", [with_lse, in_a_window])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_graph_keeps_it_whole(function, dynamic):
    ops = []

    def backend(graph, _):
        ops.extend(str(node.target) for node in graph.graph.nodes)
        return graph

    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=dynamic)
    given = tensors()
    for found, expected in zip(compiled(*given), function(*given), strict=True):
        assert torch.equal(found, expected)
    assert sum("mlir_smem" in op for op in ops) == 1


@pytest.mark.parametrize("return_lse", [False, True])
def test_the_meta_function_is_right(return_lse):
    from mlir_smem.kernels.attention.call.torch_op import OP

    options = {"causal": True, "left": None, "right": None, "scale": None, "layout": "bshd"}
    options |= {"return_lse": return_lse, "on": "cpu"}
    found = torch.library.opcheck(OP, tuple(tensors()), options)
    assert set(found.values()) == {"SUCCESS"}


def test_what_a_graph_does_not_take():
    def into(q, k, v):
        return attention(q, k, v, out=torch.empty_like(q), on="cpu")

    with pytest.raises(Exception, match="out, config and stream are not taken in a graph"):
        torch.compile(into, backend="eager", fullgraph=True)(*tensors())
