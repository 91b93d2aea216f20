"""A region of a graph as an executable."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ...bindings.diagnostics import remark_handler
from ...bindings.parsing import parse_module
from ...codegen import CompileError
from ...dialect import new_context
from ..executable import Executable
from ..linalg.lowering import lower_linalg
from ..torch_modules import readable
from .views import Graph, Node, evaluate, value

_ENTRY = "main"

#: Executables by their programs; layers of a model that repeat share one.
_MADE: dict[tuple[str, str, str], Executable] = {}


class RegionKernel:
    """What computes a region, called with the tensors that the region takes from outside.

    Args:
        region: the nodes.
        on: "gpu" or "cpu".
        options: options of `linalg-to-smem`.

    Attributes:
        inputs: the nodes of these tensors.

    Raises:
        CompileError, MLIRError: if a part of the region can be no kernel.
        OptionError: for an unknown option.
    """

    def __init__(self, region: list[Node], on: str, options: Mapping[str, Any]) -> None:
        check_device(region[0], on)
        text, self.inputs = linalg_of(region)
        self._transposed = [_is_transposed(node) for node in self.inputs]
        key = text, on, str(sorted(options.items()))
        if key not in _MADE:
            _MADE[key] = _executable(text, on, options)
        self._executable = _MADE[key]

    def __call__(self, *tensors: Any) -> Any:
        """Run the region's kernel."""
        return self._executable(
            *(
                readable(each.transpose(-2, -1) if transposed else each)
                for each, transposed in zip(tensors, self._transposed, strict=True)
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

    Arguments are contiguous: of a tensor that is one with its last two dimensions exchanged, it is that.

    Raises:
        CompileError: if torch-mlir is not installed, or the region is nothing that it takes.
    """
    outside = [node for node in _inputs(region) if value(node) is None]
    if outside:
        raise CompileError(f"its op takes the number {outside[0].name}, which is no constant")
    graph, inputs = _graph_of(region)
    return _imported(graph), inputs


def _inputs(region: list[Node]) -> list[Node]:
    """Return the nodes outside of a region that it takes, in the order in which it does."""
    taken = dict.fromkeys(each for node in region for each in node.all_input_nodes)
    return [node for node in taken if node not in set(region)]


def _is_transposed(node: Node) -> bool:
    """Whether a tensor is contiguous once its last two dimensions are exchanged."""
    tensor = value(node)
    if tensor.dim() < 2 or tensor.is_contiguous():
        return False
    return tensor.transpose(-2, -1).is_contiguous()


def _transposed(node: Node) -> Node | None:
    """Return the tensor of which a node is the transposed matrix; None if it is none."""
    aten = importlib.import_module("torch").ops.aten
    if node.target is aten.t.default and value(node.args[0]).is_contiguous():
        return node.args[0]
    return None


def _graph_of(region: list[Node]) -> tuple[Graph, list[Node]]:
    """Return a graph of a region alone, which computes in f32 what it has in bf16 and f16.

    A kernel's accumulators are f32, and so is its epilogue, as in the kernels that PyTorch's own compiler
    makes: results are rounded once.

    Returns:
        The graph, whose inputs are contiguous where they are transposed otherwise; and the nodes of the
        inputs.
    """
    torch = importlib.import_module("torch")
    fx = importlib.import_module("torch.fx")
    aten, graph = torch.ops.aten, fx.Graph()

    def call(target: Any, *arguments: Any, **named: Any) -> Node:
        made = graph.call_function(target, arguments, named)
        evaluate(made)
        return made

    def converted(node: Node, dtype: Any) -> Node:
        # Of dynamic extents torch-mlir makes a plain loop for this op alone.
        convert = torch.ops.prims.convert_element_type.default
        return node if value(node).dtype == dtype else call(convert, node, dtype)

    def wide(node: Node) -> Node:
        narrow = value(node).dtype in (torch.bfloat16, torch.float16)
        return converted(node, torch.float32) if narrow else node

    outside = _inputs(region)
    sources = {node: _transposed(node) or node for node in outside}
    given: dict[Node, Node] = {}
    for source in sources.values():
        if source not in given:
            given[source] = graph.placeholder(f"given{len(given)}")
            is_transposed, tensor = _is_transposed(source), value(source)
            given[source].meta["val"] = tensor.transpose(-2, -1) if is_transposed else tensor
    computed: dict[Node, Node] = {}
    for node, source in sources.items():
        taken = given[source]
        if _is_transposed(source) != (source is not node):
            taken = call(aten.transpose.int, taken, -2, -1)
        computed[node] = wide(taken)
    for node in region:
        if node.target is aten._to_copy.default:
            made = converted(computed[node.args[0]], value(node).dtype)
        else:
            made = graph.node_copy(node, computed.__getitem__)
            evaluate(made)
        computed[node] = wide(made)
    graph.output(converted(computed[region[-1]], value(region[-1]).dtype))
    return graph, list(given)


def _imported(graph: Graph) -> str:
    """Return a graph in linalg, as torch-mlir imports it.

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
    """Compile a program in linalg that becomes kernels whole.

    Raises:
        CompileError: if an op is left.
    """
    remarks: list[str] = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        program = parse_module(text)
        lower_linalg(program, **options)
        left = [remark for remark in remarks if " stays as it is: " in remark]
        if left:
            raise CompileError(min(left, key=lambda remark: remark.endswith("is no contraction")))
        return Executable(program, _ENTRY, on=on)
