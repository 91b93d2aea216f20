"""`torch.compile(backend="mlir_smem")`."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...bindings.mlir import ir
from ...codegen import CompileError
from ...runtime import LaunchError
from ..executable import MACHINES
from ..linalg.linalg_to_smem import LinalgToSmem
from .attention import AttentionKernel, attention_nodes
from .region_kernel import RegionKernel
from .regions import regions_of, regions_without_last
from .report import TorchPart, add_graph
from .views import Graph, Node, sink_views

#: The metadata of a node that could have been in a kernel: the reason why it is not.
_LEFT = "mlir_smem_left"

#: Errors for a node that no kernel computes.
_NO_KERNEL = (CompileError, LaunchError, ir.MLIRError)


def mlir_smem(
    module: Any,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compile a graph of PyTorch: the backend of `torch.compile(model, backend="mlir_smem")`.

    Products of matrices, with the element-wise ops that alone use them, become kernels of this library.
    So does scaled dot product attention. PyTorch's default compiler gets the rest. `torch_graphs` says
    what became of each graph.

    Args:
        module, example_inputs: what `torch.compile` gives a backend.
        mode: the mode of the default compiler, as of `torch.compile`.
        options: options of `linalg-to-smem`; also "on": "gpu" (the default), or "cpu" for the emulator;
            and "mode", because `torch.compile` takes either a mode or options.

    Returns:
        What runs the graph.

    Raises:
        OptionError, ValueError: for an unknown option, or a value that an option does not take.

    Example:
        >>> import torch  # on a GPU
        >>> layer = torch.nn.Linear(256, 512, dtype=torch.bfloat16, device="cuda")  # on a GPU
        >>> x = torch.randn(64, 256, dtype=torch.bfloat16, device="cuda")  # on a GPU
        >>> compiled = torch.compile(layer, backend="mlir_smem")  # on a GPU
        >>> torch.allclose(compiled(x), layer(x), atol=0.05)  # on a GPU
        True
    """
    smem_options = dict(options or {})
    on, mode = smem_options.pop("on", "gpu"), smem_options.pop("mode", mode)
    if on not in MACHINES:
        raise ValueError(f"unknown machine '{on}'; expected {' or '.join(MACHINES)}")
    LinalgToSmem.from_options(smem_options)
    common = importlib.import_module("torch._dynamo.backends.common")
    compilers = importlib.import_module("functorch.compile")

    def compile_boxed(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
        return compilers.make_boxed_func(_compile_graph(graph, on, smem_options, mode))

    return common.aot_autograd(
        fw_compiler=compile_boxed, partition_fn=compilers.min_cut_rematerialization_partition
    )(module, example_inputs)


def _compile_graph(module: Any, on: str, options: Mapping[str, Any], mode: str | None) -> Any:
    """Compile the parts of a graph module.

    Args:
        module: a graph module of ATen ops without mutations; its graph is changed.
        on, options, mode: as `mlir_smem` has them.
    """
    torch = importlib.import_module("torch")
    split_module = importlib.import_module("torch.fx.passes.split_module").split_module
    graph = module.graph
    sink_views(graph)
    ours: dict[Node, TorchPart] = {}
    for region in regions_of(graph):
        _make_kernels(graph, region, on, options, ours)
    for node in attention_nodes(graph):
        _make_attention(graph, node, on, ours)
    graph.eliminate_dead_code()
    module.recompile()
    split = split_module(module, None, _parts(graph, set(ours)).__getitem__)
    symbolic = any(isinstance(node.meta.get("val"), torch.SymInt) for node in graph.nodes)
    part_by_name = {str(node.target): part for node, part in ours.items()}
    parts = []
    for node in split.graph.nodes:
        if node.op != "call_module":
            continue
        part = getattr(split, node.target)
        calls = [call for call in part.graph.nodes if call.op == "call_function"]
        if str(calls[0].target) in part_by_name:
            parts.append(part_by_name[str(calls[0].target)])
        elif any(map(_computes, calls)):
            reasons = tuple(
                (str(call.target), call.meta[_LEFT]) for call in calls if _LEFT in call.meta
            )
            parts.append(TorchPart("default", _names(calls), reasons))
            setattr(split, node.target, torch.compile(part, mode=mode, dynamic=symbolic or None))
        else:
            parts.append(TorchPart("views", _names(calls)))
    add_graph(parts)
    return split


def _make_kernels(
    graph: Graph,
    region: list[Node],
    on: str,
    options: Mapping[str, Any],
    ours: dict[Node, TorchPart],
) -> None:
    """Replace as much of a region as kernels can compute by calls of kernels.

    Args:
        graph: the graph, which is changed.
        region: as `regions_of` returns it.
        on, options: as `mlir_smem` has them.
        ours: the nodes that call kernels; new ones are added.
    """
    waiting = [region]
    while waiting:
        region = waiting.pop()
        try:
            kernel = RegionKernel(region, on, options)
        except _NO_KERNEL as error:
            _leave(region[-1], error)
            waiting += regions_without_last(region)
            continue
        _put(graph, kernel, region, ours)


def _make_attention(graph: Graph, node: Node, on: str, ours: dict[Node, TorchPart]) -> None:
    """Replace attention by a call of a kernel, if there is one that computes it.

    Args:
        graph, on, ours: as `_make_kernels` has them.
        node: one of `attentions_of`.
    """
    try:
        kernel = AttentionKernel(node, on)
    except _NO_KERNEL as error:
        _leave(node, error)
    else:
        _put(graph, kernel, kernel.nodes, ours)


def _leave(node: Node, error: Exception) -> None:
    """Leave an op to the default compiler, and record the error."""
    node.meta[_LEFT] = str(error).splitlines()[0]


def _put(
    graph: Graph,
    kernel: RegionKernel | AttentionKernel,
    nodes: list[Node],
    ours: dict[Node, TorchPart],
) -> None:
    """Replace nodes by a call of a kernel; only the last node's result may have other users."""
    last = nodes[-1]
    ops = [node for node in nodes if node.target is not operator.getitem]
    with graph.inserting_after(last):
        call = graph.call_function(_function(kernel, ops[-1].name), tuple(kernel.inputs))
    call.meta = dict(last.meta)
    ours[call] = TorchPart("mlir_smem", _names(ops))
    last.replace_all_uses_with(call)
    for node in reversed(nodes):
        graph.erase_node(node)


def _function(kernel: RegionKernel | AttentionKernel, name: str) -> Callable[..., Any]:
    """Return a kernel as a function with a name: FX calls named functions."""

    def call(*tensors: Any) -> Any:
        return kernel(*tensors)

    call.__name__ = call.__qualname__ = f"mlir_smem_{name}"
    return call


def _parts(graph: Graph, ours: set[Node]) -> dict[Node, str]:
    """Return the name of the part of each call: each kernel is a part; so are the ops between kernels.

    An op that needs the results of `n` kernels in sequence is in the part `others_n`.
    """
    level: dict[Node, int] = {}
    part_of: dict[Node, str] = {}
    for node in graph.nodes:
        level[node] = max((level[input_node] for input_node in node.all_input_nodes), default=0)
        if node in ours:
            part_of[node] = f"kernel_{node.name}"
            level[node] += 1
        elif node.op == "call_function":
            part_of[node] = f"others_{level[node]}"
    return part_of


def _computes(call: Node) -> bool:
    """Whether a call returns a new tensor, rather than a view or a number."""
    schema = getattr(call.target, "_schema", None)
    return schema is not None and any(returned.alias_info is None for returned in schema.returns)


def _names(calls: Sequence[Node]) -> tuple[str, ...]:
    return tuple(str(call.target) for call in calls)
