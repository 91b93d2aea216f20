"""Products of a graph, each with the element-wise ops after it that its kernel may compute."""

from __future__ import annotations

import importlib

from .views import Graph, Node, is_elementwise, value

#: The most products of a kernel: two, of which one gates the other.
_PRODUCTS = 2


def is_product(node: Node) -> bool:
    """Whether a node is a product of matrices, or of batches of them."""
    aten = importlib.import_module("torch").ops.aten
    products = (aten.mm, aten.addmm, aten.bmm, aten.baddbmm, aten._int_mm)
    return node.op == "call_function" and node.target in [packet.default for packet in products]


def regions_of(graph: Graph) -> list[list[Node]]:
    """Return each product with the element-wise ops that are its only users.

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
    """Append an element-wise node to the regions of which it is the only user."""
    candidates = [
        input_node
        for input_node in node.all_input_nodes
        if input_node in region_of
        and input_node is region_of[input_node][-1]
        and set(input_node.users) == {node}
    ]
    candidates = [
        input_node for input_node in candidates if value(input_node).shape == value(node).shape
    ]
    joined: list[Node] = []
    for input_node in candidates:
        if sum(map(is_product, [*joined, *region_of[input_node]])) <= _PRODUCTS:
            joined += region_of[input_node]
    if joined:
        region = [*joined, node]
        region_of.update(dict.fromkeys(region, region))


def regions_without_last(region: list[Node]) -> list[list[Node]]:
    """Return the regions of a region without its last node; parts without a product are dropped."""
    parts = connected_regions(region[:-1])
    return [part for part in parts if any(map(is_product, part))]


def connected_regions(nodes: list[Node]) -> list[list[Node]]:
    """Return the connected parts of nodes."""
    part_of: dict[Node, list[Node]] = {}
    for node in nodes:
        part = [node]
        for input_node in node.all_input_nodes:
            if input_node in part_of and part_of[input_node] is not part:
                part = [*part_of[input_node], *part]
                part_of.update(dict.fromkeys(part, part))
        part_of.update(dict.fromkeys(part, part))
    return list({id(part): part for part in part_of.values()}.values())
