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
from .attention import AttentionKernel, attentions_of
from .region_kernel import RegionKernel
from .regions import regions_of, without_last
from .report import TorchPart, add_graph
from .views import Graph, Node, sink_views

#: What nodes carry that could have been in our kernels: why they are not.
_LEFT = "mlir_smem_left"

#: Why there is no kernel.
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
    given = dict(options or {})
    on, mode = given.pop("on", "gpu"), given.pop("mode", mode)
    if on not in MACHINES:
        raise ValueError(f"unknown machine '{on}'; expected {' or '.join(MACHINES)}")
    LinalgToSmem.from_options(given)
    common = importlib.import_module("torch._dynamo.backends.common")
    compilers = importlib.import_module("functorch.compile")

    def compiled(graph: Any, inputs: Sequence[Any]) -> Callable[..., Any]:
        return compilers.make_boxed_func(_compiled(graph, on, given, mode))

    return common.aot_autograd(
        fw_compiler=compiled, partition_fn=compilers.min_cut_rematerialization_partition
    )(module, example_inputs)


def _compiled(module: Any, on: str, options: Mapping[str, Any], mode: str | None) -> Any:
    """Return a graph module whose parts are compiled.

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
    for node in attentions_of(graph):
        _make_attention(graph, node, on, ours)
    graph.eliminate_dead_code()
    module.recompile()
    split = split_module(module, None, _parts(graph, set(ours)).__getitem__)
    symbolic = any(isinstance(node.meta.get("val"), torch.SymInt) for node in graph.nodes)
    described = {str(node.target): part for node, part in ours.items()}
    parts = []
    for node in split.graph.nodes:
        if node.op != "call_module":
            continue
        part = getattr(split, node.target)
        calls = [each for each in part.graph.nodes if each.op == "call_function"]
        if str(calls[0].target) in described:
            parts.append(described[str(calls[0].target)])
        elif any(map(_computes, calls)):
            reasons = tuple(
                (str(each.target), each.meta[_LEFT]) for each in calls if _LEFT in each.meta
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
    """Put calls of kernels in the place of as much of a region as they can compute.

    Args:
        graph: the graph, which is changed.
        region: as `regions_of` returns it.
        on, options: as `mlir_smem` has them.
        ours: gets the nodes that call kernels.
    """
    waiting = [region]
    while waiting:
        region = waiting.pop()
        try:
            kernel = RegionKernel(region, on, options)
        except _NO_KERNEL as error:
            _leave(region[-1], error)
            waiting += without_last(region)
            continue
        _put(graph, kernel, region, ours)


def _make_attention(graph: Graph, node: Node, on: str, ours: dict[Node, TorchPart]) -> None:
    """Put a call of a kernel in the place of attention, if there is one that computes it.

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
    """Leave an op to the default compiler, because of an error."""
    node.meta[_LEFT] = str(error).splitlines()[0]


def _put(
    graph: Graph,
    kernel: RegionKernel | AttentionKernel,
    nodes: list[Node],
    ours: dict[Node, TorchPart],
) -> None:
    """Put a call of a kernel in the place of nodes, of whose results only the last one's is used."""
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
    """Return a kernel as a function with a name, as FX wants what it calls."""

    def call(*tensors: Any) -> Any:
        return kernel(*tensors)

    call.__name__ = call.__qualname__ = f"mlir_smem_{name}"
    return call


def _parts(graph: Graph, ours: set[Node]) -> dict[Node, str]:
    """Return the name of the part of each call: one for each kernel, and one for what runs between them.

    What needs the results of `n` kernels, one behind the other, is in part `n` of the others.
    """
    level: dict[Node, int] = {}
    part_of: dict[Node, str] = {}
    for node in graph.nodes:
        level[node] = max((level[each] for each in node.all_input_nodes), default=0)
        if node in ours:
            part_of[node] = f"kernel_{node.name}"
            level[node] += 1
        elif node.op == "call_function":
            part_of[node] = f"others_{level[node]}"
    return part_of


def _computes(call: Node) -> bool:
    """Whether a call makes a tensor of its own, rather than a view or a number."""
    schema = getattr(call.target, "_schema", None)
    return schema is not None and any(each.alias_info is None for each in schema.returns)


def _names(calls: Sequence[Node]) -> tuple[str, ...]:
    return tuple(str(call.target) for call in calls)
