"""Products of a graph, each with the element-wise ops behind it that its kernel may compute."""

from __future__ import annotations

import importlib

from .views import Graph, Node, is_elementwise, value

#: How many products a kernel computes at once: two, of which one gates the other.
_PRODUCTS = 2


def is_product(node: Node) -> bool:
    """Whether a node is a product of matrices, or of batches of them."""
    aten = importlib.import_module("torch").ops.aten
    products = (aten.mm, aten.addmm, aten.bmm, aten.baddbmm, aten._int_mm)
    return node.op == "call_function" and node.target in [each.default for each in products]


def regions_of(graph: Graph) -> list[list[Node]]:
    """Return each product with the element-wise ops that alone use it.

    Args:
        graph: a graph as `sink_views` leaves it.

    Returns:
        Nodes in the graph's order. The last one is the only one with users outside.
    """
    region_of: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        if is_product(node):
            region_of[node] = [node]
        elif is_elementwise(node):
            _grow(region_of, node)
    return [region for last, region in region_of.items() if region[-1] is last]


def _grow(region_of: dict[Node, list[Node]], node: Node) -> None:
    """Let an element-wise node be the last one of the regions that it alone uses."""
    before = [
        each
        for each in node.all_input_nodes
        if each in region_of and each is region_of[each][-1] and set(each.users) == {node}
    ]
    before = [each for each in before if value(each).shape == value(node).shape]
    joined: list[Node] = []
    for each in before:
        if sum(map(is_product, [*joined, *region_of[each]])) <= _PRODUCTS:
            joined += region_of[each]
    if joined:
        region = [*joined, node]
        region_of.update(dict.fromkeys(region, region))


def without_last(region: list[Node]) -> list[list[Node]]:
    """Return what regions are left of one without its last node: none of a product alone."""
    parts = regions_in(region[:-1])
    return [part for part in parts if any(map(is_product, part))]


def regions_in(nodes: list[Node]) -> list[list[Node]]:
    """Return the parts of some nodes that use one another."""
    part_of: dict[Node, list[Node]] = {}
    for node in nodes:
        part = [node]
        for each in node.all_input_nodes:
            if each in part_of and part_of[each] is not part:
                part = [*part_of[each], *part]
                part_of.update(dict.fromkeys(part, part))
        part_of.update(dict.fromkeys(part, part))
    return list({id(part): part for part in part_of.values()}.values())
