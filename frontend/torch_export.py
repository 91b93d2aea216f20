"""Modules of PyTorch as programs in linalg, and what a call of one reads, writes and returns."""

from __future__ import annotations

import importlib
import inspect
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..codegen import CompileError
from .call_signature import Output, Part, Place, Signature, TensorType, View
from .torch_decompositions import decompositions
from .torch_state import ModuleState
from .torch_trace import Trace

#: The function of an exported program.
ENTRY = "main"

#: Ops of torch-mlir that its pipeline to linalg leaves.
_NOT_LINALG = re.compile(r"\b(?:tm_tensor|torch)\.\w[\w.]*")

#: What makes a tensor of numbers in the function's source.
_FRESH_LITERALS = ("aten.lift_fresh_copy.default", "aten.lift_fresh.default")


@dataclass(frozen=True)
class Exported:
    """An exported module.

    Attributes:
        text: the program, in linalg on tensors.
        signature: what a call takes, writes and returns.
        state: the module's tensors.
        constants: tensors that the function captures, by name.
        in_spec, out_spec: how PyTorch flattens the arguments and the result.
    """

    text: str
    signature: Signature
    state: ModuleState
    constants: Mapping[str, Any]
    in_spec: Any
    out_spec: Any

    def tensor(self, place: Place) -> Any:
        """Return a tensor of the module, or one that the function captures."""
        if place.kind == "state":
            return self.state.get(str(place.key))
        return self.constants[str(place.key)]

    @property
    def held(self) -> dict[Place, Any]:
        """What a call takes besides arguments, now."""
        return {p: self.tensor(p) for p in self.signature.types if p.kind != "argument"}


def exported(module: Any, example_inputs: Sequence[Any], dynamic_shapes: Any = None) -> Exported:
    """Export a module to linalg on tensors; it is not run, and nothing of it changes.

    Args:
        module, example_inputs, dynamic_shapes: as for `from_torch`.

    Raises:
        CompileError: if torch or torch-mlir is not installed, or the module cannot be exported; also if
            it changes what no call could change.
    """
    try:
        torch = importlib.import_module("torch")
        fx = importlib.import_module("torch_mlir.fx")
    except ImportError as error:
        raise CompileError(
            f"{error.name} is not installed; from_torch needs torch, and torch-mlir as the bindings"
        ) from None
    state = ModuleState(torch, module)
    trace = Trace(torch, module, state)
    name = type(module).__name__ if isinstance(module, torch.nn.Module) else "the function"
    try:
        with torch.no_grad(), state.restored():
            program = torch.export.export(
                trace.module,
                trace.examples(example_inputs),
                dynamic_shapes=_shapes(module, len(state.tensors), dynamic_shapes),
                strict=False,
            )
            lowered = program.run_decompositions(decompositions(torch))
        _check_ops(torch, lowered.graph)
        signature = _Reading(torch, trace, state, program, lowered, example_inputs).signature()
        text = _linalg(fx, lowered)
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
    in_spec = pytree.tree_structure(tuple(example_inputs))
    return Exported(text, signature, state, lowered.constants, in_spec, trace.out_spec)


def _shapes(module: Any, held: int, dynamic_shapes: Any) -> Any:
    """Return the dynamic shapes of the lifted module, whose first inputs are state."""
    if dynamic_shapes is None:
        return None
    if isinstance(dynamic_shapes, Mapping):
        function = getattr(module, "forward", module)
        names = list(inspect.signature(function).parameters)
        last = max((names.index(name) for name in dynamic_shapes), default=-1)
        dynamic_shapes = [dynamic_shapes.get(name) for name in names[: last + 1]]
    return ((*(None for _ in range(held)), *dynamic_shapes),)


def _check_ops(torch: Any, graph: Any) -> None:
    """Refuse ops whose meaning is not that of their operands alone."""
    for node in graph.nodes:
        tags = getattr(node.target, "tags", ())
        if node.op == "call_function" and torch.Tag.nondeterministic_seeded in tags:
            raise CompileError(
                f"the module draws random numbers ({node.target}), and a program would draw the same in "
                "each call; pass them as an argument, or switch to eval()"
            )


def _linalg(fx: Any, program: Any) -> str:
    """Return a functional graph in linalg; each of its placeholders is an argument.

    Raises:
        CompileError: for an op that torch-mlir does not lower to linalg.
    """
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
        text = str(fx._module_lowering(False, False, linalg, importer.module))
    except Exception as error:
        messages.append(str(error).strip().splitlines()[0])
        # The others name constants and types of an op that failed.
        first = next((each for each in messages if "torch.aten." in each), messages[0])
        raise CompileError(f"torch-mlir does not lower the module to linalg: {first}") from error
    if others := sorted(set(_NOT_LINALG.findall(text))):
        raise CompileError(
            f"the module has {', '.join(others)}, which torch-mlir does not lower to linalg"
        )
    return text


class _Reading:
    """Reads the signature of an exported program, and leaves in its graph what the program computes.

    Args:
        program: as `torch.export` has it: with writes in place.
        lowered: the same without, decomposed; what it returns is changed.
    """

    def __init__(
        self,
        torch: Any,
        trace: Trace,
        state: ModuleState,
        program: Any,
        lowered: Any,
        example_inputs: Sequence[Any],
    ) -> None:
        self._torch, self._trace, self._lowered = torch, trace, lowered
        pytree = importlib.import_module("torch.utils._pytree")
        self._leaves = pytree.tree_leaves(tuple(example_inputs))
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
                number = next((n for n, each in enumerate(self._results) if each is value), None)
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
            values={
                number: leaf
                for number, leaf in enumerate(self._leaves)
                if not isinstance(leaf, self._torch.Tensor)
            },
            inputs=tuple(inputs),
            writes=tuple(writes),
            outputs=tuple(outputs),
            rebinds=tuple(self._trace.rebound),
            extents=self._extents(),
        )

    def _placeholders(self, program: Any) -> dict[Any, Place]:
        """Return where the placeholders of a graph are, by node."""
        nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        places, number = {}, 0
        for spec in program.graph_signature.input_specs:
            if spec.kind.name == "USER_INPUT":
                held = number < len(self._state)
                key = self._state[number] if held else number - len(self._state)
                place = Place("state" if held else "argument", key)
                number += 1
            else:
                place = Place("constant", spec.target)
            places[nodes[spec.arg.name]] = place
        return places

    def _embed_literals(self, program: Any) -> None:
        """Make constants of tensors that the function itself makes of numbers."""
        literals = {
            place
            for node, place in self._written_places.items()
            if place.kind == "constant"
            and all(str(user.target) in _FRESH_LITERALS for user in node.users)
        }
        for node, place in list(self._places.items()):
            if place in literals:
                node.replace_all_uses_with(self._lowered.constants[place.key])
                self._lowered.graph.erase_node(node)
                del self._places[node]

    def _output_of(self, number: int, value: Any) -> Output:
        """Return how a value of the function is returned."""
        if not isinstance(value, self._torch.fx.Node):
            return Output(None, value=value)
        alias = self._trace.aliases[number]
        if isinstance(alias, int):
            return Output(same=alias)
        if isinstance(alias, Place):
            views = self._views(number, alias)
            if views is not None:
                return Output(alias, views)
        place = self._places.get(value)
        if place is not None and place.kind == "constant":
            return Output(place)
        result = Place("result", self._result(value))
        return Output(result, part=alias if isinstance(alias, Part) else None)

    def _views(self, number: int, base: Place) -> tuple[View, ...] | None:
        """Return the ops from a tensor of the call to its view that is returned; None if they are not
        known."""
        if number in self._trace.whole:
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
                nodes = [each for each in node.all_input_nodes if each is not node.args[0]]
                if node.kwargs or nodes:
                    return None
                views.insert(0, View(str(node.target), tuple(node.args[1:]), item))
            node = node.args[0]
        return tuple(views) if self._written_places[node] == base else None

    def _result(self, value: Any) -> int:
        """Add a result to the program, and return its number."""
        self._results.append(value)
        return len(self._results) - 1

    def _return_results(self) -> None:
        _output(self._lowered.graph).args = (tuple(self._results),)

    def _drop_unused(self) -> list[Place]:
        """Erase placeholders without a use, and return the places of the others."""
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
