"""Views of dynamic extents in an exported graph.

torch-mlir guesses which dimensions a view merges or splits, and guesses wrong: of a tensor of
`b x l x 64`, viewed as `b*l x 64`, its program reads what `b x 1 x 64` has. It does not know, either,
which dynamic extents are equal, and reads a tensor that is expanded to its own shape as if an extent
could be 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Ops whose dimensions torch-mlir guesses.
_VIEWS = ("aten.view.default", "aten._unsafe_view.default", "aten.reshape.default")

#: What replaces them; torch-mlir would make views of these, too, if it were not told to keep them.
KEPT = ("aten.flatten.using_ints", "aten.unflatten.int")


def name_dims_of_views(torch: Any, graph: Any) -> None:
    """Let expansions and views say which dimensions they change.

    A view becomes `aten.flatten` if it only merges dimensions, and `aten.unflatten` if it only splits
    one. Any other one with several dynamic extents becomes a view of one dimension.
    """
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if str(node.target) == "aten.expand.default":
            _keep_dims(graph, node)
        elif str(node.target) in _VIEWS:
            _name_dims(torch, graph, node)


def _keep_dims(graph: Any, node: Any) -> None:
    """Let an expansion say which dimensions it does not change (-1); drop it if it changes none."""
    source, target = _shape(node.args[0]), _shape(node)
    if source == target:
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)
        return
    new = len(target) - len(source)
    sizes = [
        -1 if dim >= new and extent == source[dim - new] else size
        for dim, (extent, size) in enumerate(zip(target, node.args[1], strict=True))
    ]
    node.args = (node.args[0], sizes, *node.args[2:])


def _name_dims(torch: Any, graph: Any, node: Any) -> None:
    source, target = _shape(node.args[0]), _shape(node)
    dynamic = max(map(_dynamic_count, (source, target)))
    if not dynamic or not source or not target:
        return
    first, last, last_of_view = _changed_dims(source, target)
    flatten, unflatten = torch.ops.aten.flatten.using_ints, torch.ops.aten.unflatten.int
    if last_of_view == first:
        _replace(graph, node, flatten, node.args[0], first, last)
    elif last == first:
        _replace(
            graph, node, unflatten, node.args[0], first, node.args[1][first : last_of_view + 1]
        )
    elif dynamic > 1:
        with graph.inserting_before(node):
            flat = graph.call_function(flatten, (node.args[0], 0, len(source) - 1))
        flat.meta["val"] = flatten(node.args[0].meta["val"], 0, len(source) - 1)
        node.args = (flat, *node.args[1:])


def _replace(graph: Any, node: Any, op: Any, *arguments: Any) -> None:
    """Replace a node by a call of an op that has the same result."""
    with graph.inserting_before(node):
        call = graph.call_function(op, arguments)
    call.meta["val"] = node.meta["val"]
    node.replace_all_uses_with(call)
    graph.erase_node(node)


def _shape(node: Any) -> list[str | int]:
    """Return the extents of a node's tensor; dynamic ones by their expressions."""
    return [extent if isinstance(extent, int) else str(extent) for extent in node.meta["val"].shape]


def _dynamic_count(shape: Sequence[str | int]) -> int:
    return sum(isinstance(extent, str) for extent in shape)


def _changed_dims(source: Sequence[str | int], target: Sequence[str | int]) -> tuple[int, int, int]:
    """Return the first and the last dimension of a tensor that are not, in order, those of a view, and
    the last one of the view."""
    most = min(len(source), len(target)) - 1
    first = 0
    while first < most and source[first] == target[first]:
        first += 1
    same = 0
    while same < most - first and source[-1 - same] == target[-1 - same]:
        same += 1
    return first, len(source) - 1 - same, len(target) - 1 - same
