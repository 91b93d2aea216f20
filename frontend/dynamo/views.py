"""Moves views after products behind the element-wise ops that follow.

A linear layer on three dimensions is a product of matrices between two views. After the view, an
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
            elif is_elementwise(user) and (roles := _as_rows(user, view)) is not None:
                waiting.append(_sink(graph, view, user, roles))
        if not view.users:
            graph.erase_node(view)


def _share_views(graph: Graph) -> None:
    """Replace equal views by the first one: products of equal tensors share a kernel."""
    views: dict[tuple[Any, Node, str], Node] = {}
    for node in list(graph.nodes):
        if _is_view(node):
            equal_view = views.setdefault((node.target, node.args[0], str(node.args[1])), node)
            if equal_view is not node:
                node.replace_all_uses_with(equal_view)
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
    tensor = node.meta.get("val")
    return tensor if isinstance(tensor, torch.Tensor) else None


def _keeps_rows(view: Node) -> bool:
    """Whether a view of a matrix has the matrix's rows, with a static length."""
    matrix, view_tensor = value(view.args[0]), value(view)
    if matrix is None or view_tensor is None or matrix.dim() != 2 or view_tensor.dim() < 3:
        return False
    last = matrix.shape[-1]
    return (
        isinstance(last, int)
        and isinstance(view_tensor.shape[-1], int)
        and view_tensor.shape[-1] == last
    )


def _as_rows(user: Node, view: Node) -> dict[Node, str] | None:
    """Return the role of each input of an element-wise op of a view, if the op can work on the matrix.

    Returns:
        For each tensor "view" (it is the view), "rows" (it has the view's shape) or "row" (it is the
        same for all rows); None if there is any other tensor.
    """
    output, shape = value(user), value(view).shape
    if output is None or output.shape != shape:
        return None
    roles: dict[Node, str] = {}
    for node in user.all_input_nodes:
        tensor = value(node)
        if node is view:
            roles[node] = "view"
        elif tensor is None:
            return None
        elif tensor.shape == shape:
            roles[node] = "rows"
        elif tensor.dim() <= 1:
            roles[node] = "row"
        else:
            return None
    return roles


def _sink(graph: Graph, view: Node, user: Node, roles: dict[Node, str]) -> Node:
    """Compute an op on the matrix, give its users a view of the result, and return that view."""
    matrix = view.args[0]
    with graph.inserting_before(user):
        arguments = {view: matrix}
        for node, kind in roles.items():
            if kind == "rows":
                arguments[node] = _rows(graph, node, matrix)
        matrix_op = graph.node_copy(user, lambda node: arguments.get(node, node))
        evaluate(matrix_op)
        view_of_result = _call(graph, view.target, (matrix_op, view.args[1]))
    user.replace_all_uses_with(view_of_result)
    graph.erase_node(user)
    return view_of_result


def _rows(graph: Graph, node: Node, matrix: Node) -> Node:
    """Return a tensor reshaped to the shape of a matrix."""
    if _is_view(node) and value(node.args[0]).shape == value(matrix).shape:
        return node.args[0]
    reshape = importlib.import_module("torch").ops.aten.reshape.default
    return _call(graph, reshape, (node, [-1, value(matrix).shape[-1]]))


def _call(graph: Graph, target: Any, arguments: tuple[Any, ...]) -> Node:
    call = graph.call_function(target, arguments)
    evaluate(call)
    return call


def evaluate(node: Node) -> None:
    """Compute the fake tensor of a node from those of its arguments."""
    torch = importlib.import_module("torch")
    map_arg = importlib.import_module("torch.fx.node").map_arg
    arguments, named = map_arg((node.args, node.kwargs), lambda arg: arg.meta["val"])
    tensors = [arg for input_node in node.all_input_nodes if (arg := value(input_node)) is not None]
    # A copied node has the metadata of the original.
    node.meta.pop("tensor_meta", None)
    with tensors[0].fake_mode, torch.no_grad():
        node.meta["val"] = node.target(*arguments, **named)
