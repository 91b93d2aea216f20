"""Views of dynamic extents in an exported graph.

torch-mlir guesses which dimensions a view merges or splits, and guesses wrong: of a tensor of
`b x l x 64`, viewed as `b*l x 64`, its program reads what `b x 1 x 64` has.
"""

from __future__ import annotations

from typing import Any

#: Ops whose dimensions torch-mlir guesses.
_VIEWS = ("aten.view.default", "aten._unsafe_view.default", "aten.reshape.default")

#: What replaces them; torch-mlir would make views of these, too, if it were not told to keep them.
KEPT = ("aten.flatten.using_ints", "aten.unflatten.int")


def flatten_before_views(torch: Any, graph: Any) -> None:
    """Merge dimensions by `aten.flatten` before each view that has several dynamic extents.

    A view that only merges dimensions is replaced; any other one is of one dimension then.
    """
    for node in list(graph.nodes):
        if node.op != "call_function" or str(node.target) not in _VIEWS:
            continue
        source = list(node.args[0].meta["val"].shape)
        target = list(node.meta["val"].shape)
        if max(map(_dynamic_count, (source, target))) < 2 or len(source) < 2:
            continue
        first, last = _changed_dims(source, target)
        is_merge = len(target) - len(source) == first - last
        flatten = torch.ops.aten.flatten.using_ints
        ends = (first, last) if is_merge else (0, len(source) - 1)
        with graph.inserting_before(node):
            flat = graph.call_function(flatten, (node.args[0], *ends))
        flat.meta["val"] = flatten(node.args[0].meta["val"], *ends)
        if is_merge:
            node.replace_all_uses_with(flat)
            graph.erase_node(node)
        else:
            node.args = (flat, *node.args[1:])


def _dynamic_count(shape: list[Any]) -> int:
    return sum(not isinstance(extent, int) for extent in shape)


def _changed_dims(source: list[Any], target: list[Any]) -> tuple[int, int]:
    """Return the first and the last dimension of a tensor that are not, in order, those of a view."""
    extents, view = [[str(extent) for extent in shape] for shape in (source, target)]
    first = 0
    while first < min(len(extents), len(view)) - 1 and extents[first] == view[first]:
        first += 1
    last = 0
    most = min(len(extents), len(view)) - 1 - first
    while last < most and extents[-1 - last] == view[-1 - last]:
        last += 1
    return first, len(extents) - 1 - last
