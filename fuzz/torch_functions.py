"""Random functions and modules of PyTorch, compiled by `from_torch` for the emulator, against eager.

Each is called several times. Compared are results and what they consist of, the arguments and the
module's state after each call, and which of these share memory. Compiling must change nothing.

An input is a program as `generated/torch_programs.py` draws it. It needs PyTorch, so `python -m fuzz`
leaves this fuzzer out where that is not installed. Elements of programs that say `exact` are whole
numbers, and results are equal; others may differ by `_BOUNDS` of the largest element.
"""

import copy
import logging
import os
import re
import warnings
from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

# Workers are forked, and threads do not survive a fork.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from mlir_smem.bindings import ir
from mlir_smem.bindings.diagnostics import Invalid, remark_handler
from mlir_smem.codegen import CompileError
from mlir_smem.frontend import from_torch
from mlir_smem.passes import OpError
from mlir_smem.runtime import LaunchError

from .frame import Fuzzer, Wrong, main
from .generated import torch_programs

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
logging.getLogger("torch").setLevel(logging.CRITICAL)

_REFUSALS = (CompileError, LaunchError, OpError, Invalid, ir.MLIRError)

#: Of the largest element: a few roundings to the shortest type that a program names.
_BOUNDS = {"bf16": 2**-5, "f16": 2**-8, "f32": 2**-12}

_TYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}

#: The whole numbers of exact programs: mostly zeros, so that sums of products stay small.
_WHOLE = torch.tensor([0, 0, 0, 0, 0, 0, 1, -1, 2, -1])

#: What names a construct in a message of refusal.
_CONSTRUCT = re.compile(r"torch\.(?:aten|prims|operator)[\w.]+|aten\.[\w.]+|'[a-z_]+\.[a-z_0-9.]+'")


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw a program that eager PyTorch runs."""
    while True:
        text = torch_programs.draw(random)
        try:
            _run_eager(_Program(text))
            return text
        except Exception:
            continue


# -- programs --------------------------------------------------------------------------------------


class _Program:
    """A program as a function or a module, and the arguments of its calls.

    Raises:
        SyntaxError, NameError, ...: of Python, if lines were left out that others need.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        lines = [line.partition(" ")[::2] for line in text.splitlines()]
        self._words: dict[str, list[str]] = {}
        for word, rest in lines:
            self._words.setdefault(word, []).append(rest)
        self._exact = self._words.get("values") == ["exact"]
        self.beyond = self._words.get("beyond", [])
        self.calls = int(self._words.get("calls", ["1"])[0])
        self._seed = 0
        self._names = {
            **_TYPES,
            "tensor": self._tensor,
            "transposed": self._transpose,
            "columns": self._columns,
            "pair": self._pair,
            "buffer": lambda *type_: nn.Buffer(self._tensor(*type_)),
            "transient": lambda *type_: nn.Buffer(self._tensor(*type_), persistent=False),
            "parameter": lambda *type_: nn.Parameter(self._tensor(*type_)),
            "torch": torch,
            "F": nn.functional,
        }
        self.function = self._function()

    def _function(self) -> Any:
        inputs = self._words.get("input", [])
        names = [re.sub(r" = default\((.*)\)| = .*", r"=\1", line).rstrip("=") for line in inputs]
        body = [*self._words.get("body", []), f"return {self._words['return'][0]}"]
        space = dict(self._names)
        state = self._words.get("state", [])
        parameters = ", ".join((["self"] if state else []) + names)
        exec("\n".join((f"def forward({parameters}):", *(f"    {line}" for line in body))), space)
        if not state:
            return space["forward"]
        exec("\n".join(("def fill(self):", *(f"    {line}" for line in state))), space)
        module = type("Program", (nn.Module,), {"forward": space["forward"]})()
        space["fill"](module)
        return module

    def arguments(self, call: int) -> list[Any]:
        """Return the arguments of a call; the same for the same call."""
        self._seed = 100 * (call + 1)
        namespace: dict[str, Any] = dict(self._names)
        names = []
        for line in self._words.get("input", []):
            if "default(" not in line:
                exec(line, namespace)
                names.append(line.split(" ")[0])
        return [namespace[name] for name in names]

    def _tensor(self, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        self._seed += 1
        generator = torch.Generator().manual_seed(self._seed)
        if dtype == torch.bool or not dtype.is_floating_point or self._exact:
            indices = torch.randint(len(_WHOLE), shape, generator=generator)
            # One place makes a view, which a program may write.
            return _WHOLE[indices].clone().to(dtype)
        return torch.randn(shape, generator=generator).to(dtype)

    def _transpose(self, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return self._tensor(dtype, *shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)

    def _columns(self, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return self._tensor(dtype, *shape[:-1], 2 * shape[-1])[..., : shape[-1]]

    def _pair(self, dtype: torch.dtype, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self._tensor(dtype, *shape), self._tensor(dtype, *shape)

    @property
    def tolerance(self) -> float:
        """How far results may be from eager's, of the largest element."""
        named = [tolerance for name, tolerance in _BOUNDS.items() if name in self.text]
        return 0.0 if self._exact else max(named, default=_BOUNDS["f32"])


def _state(function: Any) -> dict[str, torch.Tensor]:
    """Return the parameters and buffers of a module, and other tensors that are its attributes."""
    if not isinstance(function, nn.Module):
        return {}
    plain = {
        name: attribute
        for name, attribute in vars(function).items()
        if isinstance(attribute, torch.Tensor)
    }
    options = {"remove_duplicate": False}
    return (
        dict(function.named_parameters(**options)) | dict(function.named_buffers(**options)) | plain
    )


def _run(program: _Program, run: Any, module: Any) -> list[SimpleNamespace]:
    """Call a program as often as it says; return its results, arguments and state after each call."""
    calls = []
    arguments: list[Any] = []
    for call in range(program.calls):
        # The third call has the arguments of the second.
        arguments = arguments if call == 2 else program.arguments(call)
        with torch.no_grad():
            result = run(*arguments)
        state = _state(module)
        leaves = list(_leaves([*arguments, *state.values()], "")) + list(_leaves(result, "result"))
        calls.append(
            SimpleNamespace(
                result=_copy_tree(result),
                arguments=_copy_tree(arguments),
                state=_copy_tree(state),
                memory=_memory([leaf for _, leaf in leaves]),
            )
        )
    return calls


def _run_eager(program: _Program) -> list[SimpleNamespace]:
    """Return what eager PyTorch does."""
    return _run(program, program.function, program.function)


def _leaves(tree: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict):
        for key, child in tree.items():
            yield from _leaves(child, f"{where}[{key!r}]")
    elif isinstance(tree, list | tuple):
        for i, child in enumerate(tree):
            yield from _leaves(child, f"{where}[{i}]")
    else:
        yield where, tree


def _copy_tree(tree: Any) -> Any:
    """Return a tree with copies of its tensors."""
    if isinstance(tree, torch.Tensor):
        return tree.detach().clone()
    return (
        copy.deepcopy(tree)
        if not isinstance(tree, dict)
        else {k: _copy_tree(v) for k, v in tree.items()}
    )


def _memory(leaves: list[Any]) -> list[str]:
    """Return of each tensor the first one that it is, or else the first one whose memory it shares."""
    relations = []
    for i, leaf in enumerate(leaves):
        if not isinstance(leaf, torch.Tensor) or not leaf.numel():
            relations.append("none")
            continue
        same = next(j for j, other in enumerate(leaves) if other is leaf)
        storage = leaf.untyped_storage().data_ptr()
        sharing = next(
            j
            for j, other in enumerate(leaves)
            if isinstance(other, torch.Tensor) and other.untyped_storage().data_ptr() == storage
        )
        relations.append(
            f"is {same}" if same < i else f"shares {sharing}" if sharing < i else "own"
        )
    return relations


class _Undefined(Exception):
    """The result of a program is not defined in PyTorch."""


class _Overlaps(TorchDispatchMode):
    """Raises for an op in place that reads other elements of the memory that it writes, such as
    `x.add_(x.t())`: PyTorch does not say which it reads first."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        arguments = zip(func._schema.arguments, args, strict=False)
        written = [
            x for argument, x in arguments if argument.alias_info and argument.alias_info.is_write
        ]
        tensors = [x for _, x in _leaves(list(args), "") if isinstance(x, torch.Tensor)]
        for target in written:
            if any(_elsewhere(target, other) for other in tensors):
                raise _Undefined
        return func(*args, **(kwargs or {}))


def _elsewhere(target: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether tensors share elements of memory in different places."""
    (storage, layout), (other_storage, other_layout) = (
        (x.untyped_storage().data_ptr(), (x.storage_offset(), x.shape, x.stride()))
        for x in (target, other)
    )
    if storage != other_storage or layout == other_layout:
        return False
    elements = torch.arange(target.untyped_storage().nbytes() // target.element_size())
    places = [elements.as_strided(x.shape, x.stride(), x.storage_offset()) for x in (target, other)]
    return bool(torch.isin(*places).any())


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> str:
    """Check a program, and return "computed", "refused: CONSTRUCT", "undefined: WHY" or "malformed".

    Raises:
        Wrong: if something differs from eager, or a program without a `beyond` line is refused.
    """
    try:
        with _Overlaps():
            expected = _run_eager(_Program(text))
        program = _Program(text)
    except _Undefined:
        return "undefined: an op in place reads elsewhere what it writes"
    except Exception:
        return "malformed"
    example = program.arguments(0)
    arguments, state = _copy_tree(example), _state(program.function)
    values = _copy_tree(state)
    try:
        with remark_handler(lambda *_: None):
            try:
                compiled = from_torch(program.function, *example, on="cpu", mixed=True)
            finally:
                _check_unchanged(arguments, example, "argument")
                _check_unchanged(values, _state(program.function), "state")
                if any(now is not state[name] for name, now in _state(program.function).items()):
                    raise Wrong("compiling changes", "the tensors of the module")
            calls = _run(program, compiled, program.function)
    except _REFUSALS as error:
        construct = construct_of(str(error))
        if not program.beyond:
            raise Wrong("refused though documented", construct, str(error)) from error
        return f"refused: {construct}"
    for call, (actual, other) in enumerate(zip(calls, expected, strict=True)):
        for part in ("result", "arguments", "state"):
            _compare(
                getattr(actual, part), getattr(other, part), program.tolerance, f"{part}", call
            )
        if actual.memory != other.memory:
            message = f"call {call}: {actual.memory}, not {other.memory}"
            raise Wrong("wrong memory", "arguments, state and results", message)
    return "computed"


def construct_of(message: str) -> str:
    """Return the construct that a refusal names, or else how its message begins."""
    names = _CONSTRUCT.findall(message)
    if names:
        return names[0].strip("'")
    message = re.sub(r"0x[0-9a-f]+", "N", message)
    return re.sub(r"\d+", "N", message.strip().splitlines()[0] if message.strip() else "")[:90]


def _check_unchanged(before: Any, after: Any, kind: str) -> None:
    try:
        _compare(after, before, 0.0, kind, 0)
    except Wrong as error:
        raise Wrong("compiling changes", kind, str(error)) from None


def _compare(actual: Any, expected: Any, bound: float, where: str, call: int) -> None:
    """Compare trees of tensors and other values.

    Raises:
        Wrong: if they differ.
    """
    kind = where.partition("[")[0]
    if isinstance(expected, torch.Tensor):
        if not isinstance(actual, torch.Tensor):
            raise Wrong("wrong structure", kind, f"call {call}, {where}: {type(actual).__name__}")
        actual_part, expected_part = (
            str((tensor.dtype, tuple(tensor.shape))) for tensor in (actual, expected)
        )
        if actual_part != expected_part:
            raise Wrong(
                "wrong type", kind, f"call {call}, {where}: {actual_part}, not {expected_part}"
            )
        _compare_values(actual, expected, bound, where, call)
        return
    if type(actual) is not type(expected):
        message = f"call {call}, {where}: {type(actual).__name__}, not {type(expected).__name__}"
        raise Wrong("wrong structure", kind, message)
    if isinstance(expected, dict):
        if list(actual) != list(expected):
            raise Wrong("wrong structure", kind, f"call {call}, {where}: {[*actual]}")
        for key in expected:
            _compare(actual[key], expected[key], bound, f"{where}[{key!r}]", call)
    elif isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            raise Wrong("wrong structure", kind, f"call {call}, {where}: {len(actual)} parts")
        for i, (actual_part, expected_part) in enumerate(zip(actual, expected, strict=True)):
            _compare(actual_part, expected_part, bound, f"{where}[{i}]", call)
    elif actual != expected:
        raise Wrong("wrong result", kind, f"call {call}, {where}: {actual}, not {expected}")


def _compare_values(
    actual: torch.Tensor, expected: torch.Tensor, bound: float, where: str, call: int
) -> None:
    one, other = actual.double(), expected.double()
    finite = other.isfinite()
    largest = other[finite].abs().max().item() if finite.any() else 0.0
    difference = (one - other)[finite].abs()
    wrong = difference.numel() and not (difference.max() <= bound * max(largest, 1.0))
    if wrong or not torch.equal(one[~finite].nan_to_num(), other[~finite].nan_to_num()):
        place = tuple((one != other).nonzero()[0].tolist())
        message = f"call {call}, {where} at {place}: {actual[place]}, not {expected[place]}"
        raise Wrong("wrong values", where.partition("[")[0], message)


FUZZER = Fuzzer(
    "torch_functions", draw, check, suffix=".txt", lifetime=25, seconds=240.0, gigabytes=8.0
)

if __name__ == "__main__":
    main(FUZZER)
