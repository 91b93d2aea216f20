"""Exports modules of PyTorch to programs in linalg with their signatures."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..codegen import CompileError
from ..codegen.package_versions import installed_version
from .call_signature import OutputSpec, Part, Signature, TensorRef, TensorType, ViewOp
from .program_cache import CachedFile
from .tm_tensor import lower_tm_tensor
from .torch_graph_key import graph_key, literal_nodes
from .torch_state import ModuleState
from .torch_trace import LiftedModule
from .torch_views import KEPT, name_dims_of_views

#: The function of an exported program.
ENTRY = "main"

#: Ops that sum or multiply many elements. PyTorch rounds what they compute of 16-bit floats once;
#: torch-mlir's lowering would round each partial sum, and 256 ones of bf16 and one more be 256.
_REDUCTIONS = (
    *("sum.default", "sum.dim_IntList", "mean.default", "mean.dim", "prod.default", "prod.dim_int"),
    *("linalg_vector_norm.default", "norm.Scalar", "norm.ScalarOpt_dim"),
    *("rms_norm.default", "var.correction", "std.correction", "var_mean.correction"),
    *("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default"),
    *(
        "_adaptive_avg_pool2d.default",
        "_adaptive_avg_pool3d.default",
        "adaptive_avg_pool1d.default",
    ),
)


@dataclass(frozen=True)
class ExportedModule:
    """An exported module.

    Attributes:
        text: the program, in linalg on tensors.
        signature: the program's signature.
        state: the module's tensors.
        constants: tensors that the function captures, by name.
        in_spec, out_spec: the tree specs of the arguments and the result.
    """

    text: str
    signature: Signature
    state: ModuleState
    constants: Mapping[str, Any]
    in_spec: Any
    out_spec: Any

    def tensor(self, place: TensorRef) -> Any:
        """Return a tensor of the module, or one that the function captures."""
        if place.kind == "state":
            return self.state.get(str(place.key))
        return self.constants[str(place.key)]

    @property
    def captured_tensors(self) -> dict[TensorRef, Any]:
        """The current tensors of the module and captured ones that a call takes."""
        return {p: self.tensor(p) for p in self.signature.types if p.kind != "argument"}


def export_torch(
    module: Any, example_inputs: Sequence[Any], dynamic_shapes: Any = None
) -> ExportedModule:
    """Export a module to linalg on tensors; the module is not run, and does not change.

    Args:
        module, example_inputs, dynamic_shapes: as for `from_torch`.

    Raises:
        CompileError: if torch or torch-mlir is not installed, or the module cannot be exported; also if
            it changes something that no call could change.
    """
    try:
        torch = importlib.import_module("torch")
        # It takes most of a second to import, and is needed only where the cache has nothing.
        if importlib.util.find_spec("torch_mlir.fx") is None:
            raise ModuleNotFoundError(name="torch_mlir.fx")
    except ImportError as error:
        raise CompileError(
            f"{error.name} is not installed; from_torch needs torch, and torch-mlir as the bindings"
        ) from None
    state = ModuleState(torch, module)
    lifted_module = LiftedModule(torch, module, state)
    name = type(module).__name__ if isinstance(module, torch.nn.Module) else "the function"
    try:
        # Attention as products and a softmax: each device has an op of its own besides.
        attention = importlib.import_module("torch.nn.attention")
        as_products = attention.sdpa_kernel(attention.SDPBackend.MATH)
        with torch.no_grad(), state.restore(), as_products:
            program = torch.export.export(
                lifted_module.module,
                lifted_module.examples(example_inputs),
                dynamic_shapes=_shapes(module, len(state.tensors), dynamic_shapes),
                strict=False,
            )
            file = CachedFile(
                "linalg",
                lambda: [installed_version(package) for package in ("torch", "torch-mlir")],
                graph_key(torch, program),
                (lifted_module.aliases, sorted(lifted_module.whole), lifted_module.rebound),
                list(state.tensors),
            )
            lowered_graph = file.read()
            if lowered_graph is None:
                lowered_graph = _lower(torch, program, lifted_module, state)
                file.write(lowered_graph)
    except CompileError:
        raise
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        message = f"{name} cannot be exported: {type(error).__name__}: {first[0]}"
        if "is mutated in the forward method" in first[0]:
            message = (
                f"{name} writes a tensor that it captures; expected writes of arguments, parameters and "
                "buffers (register_buffer) alone"
            )
        raise CompileError(message) from error
    pytree = importlib.import_module("torch.utils._pytree")
    leaves, in_spec = pytree.tree_flatten(tuple(example_inputs))
    values = {
        number: leaf for number, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor)
    }
    text, signature, new_constants = lowered_graph
    constants = {**program.constants, **new_constants}
    signature = replace(signature, values=values)
    return ExportedModule(text, signature, state, constants, in_spec, lifted_module.out_spec)


def _lower(
    torch: Any, program: Any, lifted_module: LiftedModule, state: ModuleState
) -> tuple[str, Signature, dict[str, Any]]:
    """Lower an exported program to linalg.

    Returns:
        The program, its signature without values, and the tensors that decompositions made.
    """
    lowered = program.run_decompositions(_decompositions(torch))
    _check_ops(torch, lowered.graph)
    _forget_devices(torch, lowered.graph)
    name_dims_of_views(torch, lowered.graph)
    signature = _SignatureReader(torch, lifted_module, state, program, lowered).signature()
    new_constants = {k: v for k, v in lowered.constants.items() if k not in program.constants}
    return _linalg(lowered, signature), signature, new_constants


def _shapes(module: Any, state_count: int, dynamic_shapes: Any) -> Any:
    """Return the dynamic shapes of the lifted module, whose first inputs are state."""
    if dynamic_shapes is None:
        return None
    if isinstance(dynamic_shapes, Mapping):
        function = getattr(module, "forward", module)
        names = list(inspect.signature(function).parameters)
        last = max((names.index(name) for name in dynamic_shapes), default=-1)
        dynamic_shapes = [dynamic_shapes.get(name) for name in names[: last + 1]]
    return ((*(None for _ in range(state_count)), *dynamic_shapes),)


def _decompositions(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Return torch-mlir's decompositions, and those that keep sums of 16-bit floats in f32."""
    upstream = importlib.import_module("torch_mlir.extras.fx_decomp_util")
    table = dict(upstream.get_decomposition_table())
    # torch-mlir lowers this sort alone, and stably.
    table[torch.ops.aten.sort.stable] = lambda x, *, stable=None, dim=-1, descending=False: (
        torch.ops.aten.sort.default(x, dim, descending)
    )
    for name in _REDUCTIONS:
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload)
        table[op] = _in_f32(torch, op, table.get(op))
    return table


def _in_f32(torch: Any, op: Any, upstream: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a decomposition that computes an op of 16-bit floats in f32, and rounds the results."""
    narrow = (torch.bfloat16, torch.float16)

    def compute_in_f32(x: Any, *arguments: Any, **named: Any) -> Any:
        if x.dtype not in narrow or named.get("dtype") not in (None, x.dtype):
            return NotImplemented if upstream is None else upstream(x, *arguments, **named)
        named.pop("dtype", None)
        operands = [
            operand.to(torch.float32) if getattr(operand, "dtype", None) in narrow else operand
            for operand in (x, *arguments)
        ]
        results = op(*operands, **named)
        if isinstance(results, tuple):
            return tuple(operand.to(x.dtype) for operand in results)
        return results.to(x.dtype)

    return compute_in_f32


def _check_ops(torch: Any, graph: Any) -> None:
    """Refuse ops whose results do not depend on their operands alone."""
    for node in graph.nodes:
        tags = getattr(node.target, "tags", ())
        if node.op == "call_function" and torch.Tag.nondeterministic_seeded in tags:
            raise CompileError(
                f"the module draws random numbers ({node.target}), and a program would draw the same in "
                "each call; pass them as an argument, or switch to eval()"
            )


def _forget_devices(torch: Any, graph: Any) -> None:
    """Let all tensors of a graph be of the CPU: torch-mlir refuses some of others; linalg has none."""
    for node in graph.nodes:
        if isinstance(node.kwargs.get("device"), torch.device):
            node.kwargs = node.kwargs | {"device": torch.device("cpu")}


def _linalg(program: Any, signature: Signature) -> str:
    """Lower a functional graph to linalg; each of its placeholders is an argument.

    The attribute `smem.shape` of arguments names their extents.

    Raises:
        CompileError: for an op that torch-mlir does not lower to linalg.
    """
    fx = importlib.import_module("torch_mlir.fx")
    context = fx.ir.Context()
    fx.torch_d.register_dialect(context)
    messages: list[str] = []

    def note(diagnostic: Any) -> bool:
        messages.append(diagnostic.message)
        return True

    context.attach_diagnostic_handler(note)
    importer = fx.FxImporter(context=context)
    importer.import_graph_module(program.graph_module, func_name=ENTRY)
    linalg = fx.OutputType.get("linalg-on-tensors")
    try:
        options = fx.FxImportOptions(backend_legal_ops=list(KEPT))
        module = fx._module_lowering(False, False, linalg, importer.module, options)
        lower_tm_tensor(module)
        _name_extents(fx.ir, module, [signature.types[place].shape for place in signature.inputs])
        text = str(module)
    except Exception as error:
        messages.append(str(error).strip().splitlines()[0])
        # The other messages name constants and types of the op that failed.
        first = next((message for message in messages if "torch.aten." in message), messages[0])
        raise CompileError(f"torch-mlir does not lower the module to linalg: {first}") from error
    return text


def _name_extents(ir: Any, module: Any, shapes: Sequence[Sequence[int | str]]) -> None:
    """Name the extents of the arguments of a program, if any is dynamic."""
    if not any(isinstance(extent, str) for shape in shapes for extent in shape):
        return
    module.context.allow_unregistered_dialects = True
    with module.context:
        number = ir.IntegerType.get_signless(64)
        named = (
            ir.ArrayAttr.get(
                [
                    ir.StringAttr.get(extent)
                    if isinstance(extent, str)
                    else ir.IntegerAttr.get(number, extent)
                    for extent in shape
                ]
            )
            for shape in shapes
        )
        arguments = ir.ArrayAttr.get([ir.DictAttr.get({"smem.shape": shape}) for shape in named])
        (function,) = module.body.operations
        function.attributes["arg_attrs"] = arguments


class _SignatureReader:
    """Reads the signature of an exported program, and changes its graph to return the program's results.

    Args:
        program: the program of `torch.export`, with writes in place.
        lowered: the same, decomposed and without writes; its graph is changed.
    """

    def __init__(
        self,
        torch: Any,
        lifted_module: LiftedModule,
        state: ModuleState,
        program: Any,
        lowered: Any,
    ) -> None:
        self._torch, self._lifted_module, self._lowered = torch, lifted_module, lowered
        self._state = list(state.tensors)
        self._places = self._placeholders(lowered)
        self._written_places = self._placeholders(program)
        self._returned = list(_output(program.graph).args[0])
        self._results: list[Any] = []
        self._embed_literals(program)

    def signature(self) -> Signature:
        specs = self._lowered.graph_signature.output_specs
        values = list(_output(self._lowered.graph).args[0])
        kinds = [spec.kind.name for spec in specs]
        user = [value for value, kind in zip(values, kinds, strict=True) if kind == "USER_OUTPUT"]
        outputs = [self._output_of(i, value) for i, value in enumerate(user)]
        writes = []
        for spec, value in zip(specs, values, strict=True):
            if spec.kind.name == "USER_INPUT_MUTATION":
                target = next(p for n, p in self._places.items() if n.name == spec.target)
                number = next(
                    (n for n, result_node in enumerate(self._results) if result_node is value), None
                )
                writes.append((target, self._result(value) if number is None else number))
            elif spec.kind.name != "USER_OUTPUT":
                raise CompileError(f"the module writes {spec.target}, a {spec.kind.name.lower()}")
        self._return_results()
        types = {
            place: self._type(node.meta["val"])
            for node, place in self._places.items()
            if isinstance(node.meta.get("val"), self._torch.Tensor)
        }
        inputs = self._drop_unused()
        return Signature(
            types=types,
            values={},
            inputs=tuple(inputs),
            writes=tuple(writes),
            outputs=tuple(outputs),
            rebinds=tuple(self._lifted_module.rebound),
            extents=self._extents(),
        )

    def _placeholders(self, program: Any) -> dict[Any, TensorRef]:
        """Return the tensors of a graph's placeholders, by node."""
        nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        places, number = {}, 0
        for spec in program.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                is_state = number < len(self._state)
                key = self._state[number] if is_state else number - len(self._state)
                place = TensorRef("state" if is_state else "argument", key)
                number += 1
            else:
                place = TensorRef("constant", spec.target)
            places[nodes[spec.arg.name]] = place
        return places

    def _embed_literals(self, program: Any) -> None:
        """Replace placeholders of tensors that the function makes of numbers by constants."""
        literals = {self._written_places[node] for node in literal_nodes(program)}
        for node, place in list(self._places.items()):
            if place in literals:
                node.replace_all_uses_with(self._lowered.constants[place.key])
                self._lowered.graph.erase_node(node)
                del self._places[node]

    def _output_of(self, number: int, value: Any) -> OutputSpec:
        """Return the output for a returned value of the function."""
        if not isinstance(value, self._torch.fx.Node):
            return OutputSpec(None, value=value)
        alias = self._lifted_module.aliases[number]
        if isinstance(alias, int):
            return OutputSpec(same=alias)
        if isinstance(alias, TensorRef):
            views = self._views(number, alias)
            if views is not None:
                return OutputSpec(alias, views)
        place = self._places.get(value)
        if place is not None and place.kind == "constant":
            return OutputSpec(place)
        result = TensorRef("result", self._result(value))
        return OutputSpec(result, part=alias if isinstance(alias, Part) else None)

    def _views(self, number: int, base: TensorRef) -> tuple[ViewOp, ...] | None:
        """Return the view ops from a tensor of the call to a returned view; None if they are unknown."""
        if number in self._lifted_module.whole:
            return ()
        node, views = self._returned[number], []
        while node.op != "placeholder":
            item = None
            if node.target is operator.getitem:
                node, item = node.args[0], node.args[1]
            schema = getattr(node.target, "_schema", None)
            if schema is None or not schema.arguments or schema.arguments[0].alias_info is None:
                return None
            if not schema.arguments[0].alias_info.is_write:
                nodes = [
                    input_node
                    for input_node in node.all_input_nodes
                    if input_node is not node.args[0]
                ]
                if node.kwargs or nodes:
                    return None
                views.insert(0, ViewOp(str(node.target), tuple(node.args[1:]), item))
            node = node.args[0]
        return tuple(views) if self._written_places[node] == base else None

    def _result(self, value: Any) -> int:
        """Add a result to the program, and return its number."""
        self._results.append(value)
        return len(self._results) - 1

    def _return_results(self) -> None:
        _output(self._lowered.graph).args = (tuple(self._results),)

    def _drop_unused(self) -> list[TensorRef]:
        """Erase unused placeholders, and return the tensors of the others."""
        inputs = []
        for node, place in list(self._places.items()):
            if node.users:
                inputs.append(place)
            else:
                self._lowered.graph.erase_node(node)
        return inputs

    def _type(self, tensor: Any) -> TensorType:
        shape = tuple(extent if isinstance(extent, int) else str(extent) for extent in tensor.shape)
        return TensorType(str(tensor.dtype).removeprefix("torch."), shape)

    def _extents(self) -> dict[str, tuple[int | None, int | None]]:
        limits = {}
        for symbol, values in self._lowered.range_constraints.items():
            lower, upper = (int(v) if v.is_Integer else None for v in (values.lower, values.upper))
            limits[str(symbol)] = (lower, upper)
        return limits


def _output(graph: Any) -> Any:
    return next(node for node in graph.nodes if node.op == "output")
