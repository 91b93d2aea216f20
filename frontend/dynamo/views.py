"""Views behind products, moved behind the element-wise ops that follow.

A linear layer on three dimensions is a product of matrices between two views. Behind the view, an
activation no longer has the product's shape, so it would be no epilogue.
"""

from __future__ import annotations

import importlib
from typing import Any

#: FX's types are PyTorch's, which is imported at the first use.
Graph = Any
Node = Any


def sink_views(graph: Graph) -> None:
    """Compute element-wise ops of views of matrices on the matrices, in place.

    Args:
        graph: an FX graph of ATen ops in topological order, without mutations; its nodes carry fake
            tensors.
    """
    _share_views(graph)
    waiting = [node for node in graph.nodes if _is_view(node) and _keeps_rows(node)]
    while waiting:
        view = waiting.pop()
        for user in list(view.users):
            if _is_view(user) and value(user).shape == value(view.args[0]).shape:
                user.replace_all_uses_with(view.args[0])
                graph.erase_node(user)
            elif is_elementwise(user) and (taken := _as_rows(user, view)) is not None:
                waiting.append(_sink(graph, view, user, taken))
        if not view.users:
            graph.erase_node(view)


def _share_views(graph: Graph) -> None:
    """Let one of several equal views stand for all: products of equal tensors share a kernel."""
    first: dict[tuple[Any, Node, str], Node] = {}
    for node in list(graph.nodes):
        if _is_view(node):
            same = first.setdefault((node.target, node.args[0], str(node.args[1])), node)
            if same is not node:
                node.replace_all_uses_with(same)
                graph.erase_node(node)


def _is_view(node: Node) -> bool:
    aten = importlib.import_module("torch").ops.aten
    views = (aten.view.default, aten._unsafe_view.default, aten.reshape.default)
    return node.op == "call_function" and node.target in views


def is_elementwise(node: Node) -> bool:
    """Whether a node is an element-wise ATen op without effects on its arguments."""
    torch = importlib.import_module("torch")
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    if not isinstance(node.meta.get("val"), torch.Tensor) or node.target._schema.is_mutable:
        return False
    if node.target is torch.ops.aten._to_copy.default:
        return set(node.kwargs) <= {"dtype"}
    return torch.Tag.pointwise in node.target.tags


def value(node: Node) -> Any:
    """Return the fake tensor of a node; None if it is no tensor."""
    torch = importlib.import_module("torch")
    made = node.meta.get("val")
    return made if isinstance(made, torch.Tensor) else None


def _keeps_rows(view: Node) -> bool:
    """Whether a view of a matrix has the matrix's rows, whose length is known."""
    source, made = value(view.args[0]), value(view)
    if source is None or made is None or source.dim() != 2 or made.dim() < 3:
        return False
    last = source.shape[-1]
    return isinstance(last, int) and isinstance(made.shape[-1], int) and made.shape[-1] == last


def _as_rows(user: Node, view: Node) -> dict[Node, str] | None:
    """Return how an element-wise op of a view takes each of its tensors on the matrix instead.

    Returns:
        For each tensor "view" (it is the view), "rows" (it has the view's shape) or "row" (it is the
        same for all rows); None if there is another one.
    """
    made, shape = value(user), value(view).shape
    if made is None or made.shape != shape:
        return None
    taken: dict[Node, str] = {}
    for node in user.all_input_nodes:
        of = value(node)
        if node is view:
            taken[node] = "view"
        elif of is None:
            return None
        elif of.shape == shape:
            taken[node] = "rows"
        elif of.dim() <= 1:
            taken[node] = "row"
        else:
            return None
    return taken


def _sink(graph: Graph, view: Node, user: Node, taken: dict[Node, str]) -> Node:
    """Compute an op on the matrix, and let its users take a view of the result; return that view."""
    matrix = view.args[0]
    with graph.inserting_before(user):
        arguments = {view: matrix}
        for node, kind in taken.items():
            if kind == "rows":
                arguments[node] = _rows(graph, node, matrix)
        made = graph.node_copy(user, lambda node: arguments.get(node, node))
        evaluate(made)
        again = _call(graph, view.target, (made, view.args[1]))
    user.replace_all_uses_with(again)
    graph.erase_node(user)
    return again


def _rows(graph: Graph, node: Node, matrix: Node) -> Node:
    """Return a tensor as a matrix of a matrix's shape."""
    if _is_view(node) and value(node.args[0]).shape == value(matrix).shape:
        return node.args[0]
    reshape = importlib.import_module("torch").ops.aten.reshape.default
    return _call(graph, reshape, (node, [-1, value(matrix).shape[-1]]))


def _call(graph: Graph, target: Any, arguments: tuple[Any, ...]) -> Node:
    made = graph.call_function(target, arguments)
    evaluate(made)
    return made


def evaluate(node: Node) -> None:
    """Give a node its fake tensor, computed from those of its arguments."""
    torch = importlib.import_module("torch")
    map_arg = importlib.import_module("torch.fx.node").map_arg
    arguments, named = map_arg((node.args, node.kwargs), lambda of: of.meta["val"])
    tensors = [of for each in node.all_input_nodes if (of := value(each)) is not None]
    # A copied node has the shape of the one that it was copied from.
    node.meta.pop("tensor_meta", None)
    with tensors[0].fake_mode, torch.no_grad():
        node.meta["val"] = node.target(*arguments, **named)
