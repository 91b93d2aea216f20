"""Scaled dot product attention of a graph, as calls of the attention kernel."""

from __future__ import annotations

import importlib
import operator
from functools import cache
from itertools import permutations
from math import inf
from typing import Any

from ...codegen import CompileError
from ...kernels.attention import Config, Problem, ProblemError, attention, default_config
from ...kernels.attention.call.operands import NamedMatrix, check_readable
from ...kernels.attention.generator.kernel import text
from ...kernels.attention.generator.problem import ELEMENTS
from ...kernels.libraries import element_named
from ...runtime import Matrix, cached_compile
from ..torch_modules import readable
from .region_kernel import check_device
from .views import Graph, Node, value

#: The ops that compute attention, with the alignment of their causal masks. With the mask of
#: `scaled_dot_product_attention`, query i sees the keys up to i. The op of FlashAttention aligns the last
#: query to the last key. `causal_lower_right` calls it for that; `scaled_dot_product_attention` only
#: where both masks are the same (`check_flash_causal_non_square_seqlens` in PyTorch's sdp_utils.cpp).
_OPS = {
    "aten.scaled_dot_product_attention.default": "start",
    "aten._scaled_dot_product_cudnn_attention.default": "start",
    "aten._scaled_dot_product_efficient_attention.default": "start",
    "aten._scaled_dot_product_flash_attention_for_cpu.default": "start",
    "aten._scaled_dot_product_flash_attention.default": "end",
}


def attention_nodes(graph: Graph) -> list[Node]:
    """Return the nodes that compute attention."""
    return [node for node in graph.nodes if node.op == "call_function" and str(node.target) in _OPS]


class AttentionKernel:
    """The kernel for the attention of a node; call it with q, k and v.

    The result has the strides of the node's result, because later views depend on them.

    Args:
        node: one of `attention_nodes`.
        on: "gpu" or "cpu".

    Attributes:
        inputs: the nodes of q, k and v.
        nodes: the nodes that the kernel replaces: the op, and the getitems of its results.

    Raises:
        CompileError, MLIRError: if no kernel computes it.
    """

    def __init__(self, node: Node, on: str) -> None:
        arguments = _arguments(node)
        self.inputs = [arguments[name] for name in ("query", "key", "value")]
        self.nodes = _replaced_nodes(node)
        check_device(self.inputs[0], on)
        _check_scores(arguments)
        problem = _problem([value(tensor) for tensor in self.inputs], arguments)
        self._order = _order(value(self.nodes[-1]))
        self._aligned_to = _OPS[str(node.target)] if arguments["is_causal"] else None
        self._scale, self._on = arguments["scale"], on
        if on == "gpu":
            lengths = [value(tensor).shape[-2] for tensor in self.inputs[:2]]
            is_static = all(isinstance(extent, int) for extent in lengths)
            config = default_config(problem, *lengths) if is_static else default_config(problem)
            _compile_ahead(problem, config)

    def __call__(self, q: Any, k: Any, v: Any) -> Any:
        """Compute attention."""
        right = 0 if self._aligned_to == "end" else None
        if self._aligned_to == "start":
            # Query i sees the keys up to i; by the kernel's window, those up to i + N - M + right.
            queries = q.shape[2]
            k, v = k[:, :, :queries], v[:, :, :queries]
            right = queries - k.shape[2]
        empty = importlib.import_module("torch").empty_permuted
        return attention(
            *map(_readable, (q, k, v)),
            scale=self._scale,
            window=(None, right),
            layout="bhsd",
            out=empty(q.shape, self._order, dtype=q.dtype, device=q.device),
            on=self._on,
        )


def _arguments(node: Node) -> dict[str, Any]:
    """Return the arguments of an op by name, defaults included."""
    named = dict(node.kwargs)
    for position, argument in enumerate(node.target._schema.arguments):
        if position < len(node.args):
            named[argument.name] = node.args[position]
        else:
            named.setdefault(argument.name, argument.default_value)
    return named


def _replaced_nodes(node: Node) -> list[Node]:
    """Return an op, and the getitems of its results if it has several.

    Raises:
        CompileError: if another result than the first is used.
    """
    if value(node) is not None:
        return [node]
    users = [user for user in node.users if user.users or user.target is not operator.getitem]
    if [(user.target, user.args[1:]) for user in users] != [(operator.getitem, (0,))]:
        raise CompileError(
            "another result than its first is used, as the log-sum-exp for gradients; expected the first "
            "alone"
        )
    return [node, *(user for user in node.users if not user.users), *users]


def _check_scores(arguments: dict[str, Any]) -> None:
    """Check that the kernel computes the scores and weights.

    Args:
        arguments: as `_arguments` returns them.

    Raises:
        CompileError: for a mask in memory, a dropout, or a scale that the kernel does not take.
    """
    mask = arguments.get("attn_mask") or arguments.get("attn_bias")
    if mask is not None:
        raise CompileError(f"its mask is the tensor {mask}; expected none, or is_causal")
    if arguments["dropout_p"] != 0:
        raise CompileError(f"its dropout is {arguments['dropout_p']}; expected 0")
    scale = arguments["scale"]
    if scale is not None and not (isinstance(scale, int | float) and 0 < scale < inf):
        raise CompileError(f"its scale is {scale}; expected a positive constant")


def _problem(tensors: list[Any], arguments: dict[str, Any]) -> Problem:
    """Return the problem that a kernel solves.

    Args:
        tensors: q, k and v, whose extents may be symbols.
        arguments: as `_arguments` returns them.

    Raises:
        CompileError: for extents or element types that no kernel takes.
    """
    shapes = [tuple(tensor.shape) for tensor in tensors]
    listed = ", ".join(map(str, shapes))
    if {len(shape) for shape in shapes} != {4}:
        raise CompileError(f"q, k and v have the shapes {listed}; expected 4 dimensions each")
    (batches, heads, _, dim), (key_batches, groups, _, key_dim), _ = shapes
    equal = [*zip(*shapes[1:], strict=True), (batches, key_batches), (dim, key_dim)]
    shares = heads % groups == 0 if arguments.get("enable_gqa", True) else heads == groups
    if not _is_known(shares) or not all(_is_known(left == right) for left, right in equal):
        raise CompileError(
            f"q, k and v have the shapes {listed}; expected equal batches and dimensions, equal lengths "
            "and heads of k and v, and a multiple of these heads for q"
        )
    if any(_is_known(extent == 0) for shape in shapes for extent in shape):
        raise CompileError(f"q, k and v have the shapes {listed}; expected one or more of each")
    if not isinstance(dim, int):
        raise CompileError(f"its head dimension is {dim}, which is no constant")
    element = element_named(tensors[0].dtype)
    if element not in ELEMENTS:
        raise CompileError(
            f"q, k and v have elements of {element}; expected {' or '.join(ELEMENTS)}"
        )
    try:
        return Problem(element, dim, right=bool(arguments["is_causal"]))
    except ProblemError as error:
        raise CompileError(str(error)) from error


def _is_known(condition: Any) -> bool:
    """Whether a condition on extents holds for all values of their symbols."""
    shapes = importlib.import_module("torch.fx.experimental.symbolic_shapes")
    return shapes.statically_known_true(condition)


def _order(result: Any) -> tuple[int, ...]:
    """Return the dimensions of a result, from the outermost in memory to the innermost.

    Raises:
        CompileError: if the result is not dense, or its last dimension is not the innermost.
    """
    for outer in permutations(range(3)):
        order, strides, size = (*outer, 3), [0] * 4, 1
        for dim in reversed(order):
            strides[dim] = size
            size = size * result.shape[dim]
        if all(
            _is_known(extent == 1) or _is_known(stride == expected)
            for extent, stride, expected in zip(result.shape, result.stride(), strides, strict=True)
        ):
            return order
    raise CompileError(
        f"its result has the strides {tuple(result.stride())}; expected a dense tensor with a contiguous "
        "last dimension"
    )


def _readable(tensor: Any) -> Any:
    """Return a tensor that TMA can read; a copy if its strides or its address do not fit."""
    matrix = Matrix(tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.element_size())
    try:
        check_readable(NamedMatrix("tensor", matrix, ""))
    except ProblemError:
        return readable(tensor)
    return tensor


@cache
def _compile_ahead(problem: Problem, config: Config) -> None:
    """Compile a kernel into the cache, for calls of many queries.

    Raises:
        CompileError, MLIRError: if it cannot be compiled here.
    """
    cached_compile(text(problem, config))
