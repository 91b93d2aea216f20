"""A region of a graph as an executable."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ...bindings.diagnostics import remark_handler
from ...codegen import CompileError
from ..executable import Executable
from ..host_program import compile_program
from ..torch_modules import readable
from .views import Graph, Node, evaluate, value

_ENTRY = "main"

#: Executables by their programs: equal layers of a model share one.
_EXECUTABLES: dict[tuple[str, str, str], Executable] = {}


class RegionKernel:
    """The kernel for a region; call it with the inputs of the region.

    Args:
        region: the nodes.
        on: "gpu" or "cpu".
        options: options of `linalg-to-smem`.

    Attributes:
        inputs: the nodes outside of the region that it uses.

    Raises:
        CompileError, MLIRError: if no kernel computes a part of the region.
        OptionError: for an unknown option.
    """

    def __init__(self, region: list[Node], on: str, options: Mapping[str, Any]) -> None:
        check_device(region[0], on)
        text, self.inputs = linalg_of(region)
        self._is_transposed = [_is_transposed(node) for node in self.inputs]
        key = text, on, str(sorted(options.items()))
        if key not in _EXECUTABLES:
            _EXECUTABLES[key] = _executable(text, on, options)
        self._executable = _EXECUTABLES[key]

    def __call__(self, *tensors: Any) -> Any:
        """Run the region's kernel."""
        return self._executable(
            *(
                readable(tensor.transpose(-2, -1) if is_transposed else tensor)
                for tensor, is_transposed in zip(tensors, self._is_transposed, strict=True)
            )
        )


def check_device(node: Node, on: str) -> None:
    """Check that a tensor is where kernels run.

    Raises:
        CompileError: if kernels run on a GPU, and it is elsewhere.
    """
    device = value(node).device.type
    if on == "gpu" and device != "cuda":
        raise CompileError(
            f"its tensors are of the device {device}; expected cuda, or the option on=cpu, which "
            "emulates kernels"
        )


def linalg_of(region: list[Node]) -> tuple[str, list[Node]]:
    """Return a region as a program in linalg, and the nodes of its arguments.

    The program's arguments are contiguous: a tensor that is contiguous after its last two dimensions are
    exchanged is passed that way.

    Raises:
        CompileError: if torch-mlir is not installed, or does not take the region.
    """
    outside = [node for node in _inputs(region) if value(node) is None]
    if outside:
        raise CompileError(f"its op takes the number {outside[0].name}, which is no constant")
    graph, inputs = _graph_of(region)
    return _import_graph(graph), inputs


def _inputs(region: list[Node]) -> list[Node]:
    """Return the nodes outside of a region that it uses, in the order of their first use."""
    inputs = dict.fromkeys(input_node for node in region for input_node in node.all_input_nodes)
    return [node for node in inputs if node not in set(region)]


def _is_transposed(node: Node) -> bool:
    """Whether a tensor is contiguous only after its last two dimensions are exchanged."""
    tensor = value(node)
    if tensor.dim() < 2 or tensor.is_contiguous():
        return False
    return tensor.transpose(-2, -1).is_contiguous()


def _transposed_source(node: Node) -> Node | None:
    """Return the contiguous matrix that a node transposes; None for any other node."""
    aten = importlib.import_module("torch").ops.aten
    if node.target is aten.t.default and value(node.args[0]).is_contiguous():
        return node.args[0]
    return None


def _graph_of(region: list[Node]) -> tuple[Graph, list[Node]]:
    """Return a graph of only a region, with bf16 and f16 computed in f32.

    A kernel's accumulators and epilogue are f32, and results are rounded once, as in the kernels of
    PyTorch's default compiler.

    Returns:
        The graph, in which transposed inputs are contiguous, and the nodes of the inputs.
    """
    torch = importlib.import_module("torch")
    fx = importlib.import_module("torch.fx")
    aten, graph = torch.ops.aten, fx.Graph()

    def call(target: Any, *arguments: Any, **named: Any) -> Node:
        new_node = graph.call_function(target, arguments, named)
        evaluate(new_node)
        return new_node

    def convert_to(node: Node, dtype: Any) -> Node:
        # With dynamic extents, torch-mlir lowers only this op to a plain loop.
        convert = torch.ops.prims.convert_element_type.default
        return node if value(node).dtype == dtype else call(convert, node, dtype)

    def wide(node: Node) -> Node:
        narrow = value(node).dtype in (torch.bfloat16, torch.float16)
        return convert_to(node, torch.float32) if narrow else node

    outside = _inputs(region)
    sources = {node: _transposed_source(node) or node for node in outside}
    placeholders: dict[Node, Node] = {}
    for source in sources.values():
        if source not in placeholders:
            placeholders[source] = graph.placeholder(f"given{len(placeholders)}")
            is_transposed, tensor = _is_transposed(source), value(source)
            placeholders[source].meta["val"] = tensor.transpose(-2, -1) if is_transposed else tensor
    computed: dict[Node, Node] = {}
    for node, source in sources.items():
        placeholder = placeholders[source]
        if _is_transposed(source) != (source is not node):
            placeholder = call(aten.transpose.int, placeholder, -2, -1)
        computed[node] = wide(placeholder)
    for node in region:
        if node.target is aten._to_copy.default:
            new_node = convert_to(computed[node.args[0]], value(node).dtype)
        else:
            new_node = graph.node_copy(node, computed.__getitem__)
            evaluate(new_node)
        computed[node] = wide(new_node)
    graph.output(convert_to(computed[region[-1]], value(region[-1]).dtype))
    return graph, list(placeholders)


def _import_graph(graph: Graph) -> str:
    """Import a graph to linalg by torch-mlir.

    Raises:
        CompileError: if torch-mlir is not installed, or does not take the graph.
    """
    fx = importlib.import_module("torch.fx")
    try:
        importer = importlib.import_module("torch_mlir.fx")
    except ImportError as error:
        raise CompileError(
            f"{error.name} is not installed, which imports PyTorch's graphs"
        ) from None
    try:
        return str(
            importer.stateless_fx_import(
                fx.GraphModule({}, graph), output_type="linalg-on-tensors", model_name=_ENTRY
            )
        )
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        raise CompileError(f"torch-mlir does not import it: {first[0]}") from error


def _executable(text: str, on: str, options: Mapping[str, Any]) -> Executable:
    """Compile a program in linalg, all ops of which must become kernels.

    Raises:
        CompileError: if an op stays.
    """
    with remark_handler(lambda location, message: None):
        program = compile_program(text, _ENTRY, on=on, linalg=options, only_kernels=True)
    return Executable.of(program, on)
