"""Modules of PyTorch as executables."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ..codegen import CompileError
from ..dialect import new_context
from ..dialect.parsing import parse_module
from ..layout.elements import UNIT_BYTES
from .executable import Executable
from .linalg.lowering import lower_linalg

#: The function of an exported program.
_ENTRY = "main"


class TorchExecutable:
    """A module of PyTorch, compiled; its parameters and buffers stay those of the module.

    Attributes:
        executable: the program, which takes the parameters before the inputs.
        text: the program in linalg, as torch-mlir exported it.
    """

    def __init__(
        self, executable: Executable, text: str, state: Callable[[], list[Any]], is_tuple: bool
    ) -> None:
        self.executable, self.text = executable, text
        self._state, self._is_tuple = state, is_tuple

    def __call__(self, *inputs: Any) -> Any:
        """Run the module.

        Args:
            inputs: tensors as the example inputs: of their element types and, but for dynamic dimensions,
                shapes.

        Raises:
            LaunchError: for tensors that do not fit.
        """
        made = self.executable(*map(readable, self._state()), *map(readable, inputs))
        return (made,) if self._is_tuple and not isinstance(made, tuple) else made


def readable(tensor: Any) -> Any:
    """Return a tensor as TMA reads it, contiguous from a multiple of 16 bytes on; a copy if it is not."""
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % UNIT_BYTES == 0 else tensor.clone()


def from_torch(
    module: Any,
    *example_inputs: Any,
    dynamic_shapes: Any = None,
    on: str = "gpu",
    mixed: bool = False,
    **options: Any,
) -> TorchExecutable:
    """Compile a module of PyTorch.

    torch-mlir exports it to linalg; products become kernels (`linalg-to-smem`).

    Args:
        module: an `nn.Module`, or a function of tensors.
        example_inputs: tensors, of which shapes and element types are read.
        dynamic_shapes: as `torch.export.export` takes it.
        on: "gpu", or "cpu" for the emulator.
        mixed: see `Executable`.
        options: options of `linalg-to-smem`, dashes as underscores.

    Returns:
        What takes tensors in the place of the example inputs.

    Raises:
        CompileError: if torch or torch-mlir is not installed, or the module cannot be exported.
        MLIRError: if the program cannot be lowered.

    Example:
        >>> import torch  # on a GPU
        >>> layer = torch.nn.Linear(256, 512, dtype=torch.bfloat16, device="cuda")  # on a GPU
        >>> x = torch.randn(64, 256, dtype=torch.bfloat16, device="cuda")  # on a GPU
        >>> torch.allclose(from_torch(layer, x)(x), layer(x), atol=0.05)  # on a GPU
        True
    """
    text, state, is_tuple = exported(module, example_inputs, dynamic_shapes)
    with new_context():
        program = parse_module(text)
        lower_linalg(program, **options)
        executable = Executable(program, _ENTRY, on=on, mixed=mixed)
    return TorchExecutable(executable, text, state, is_tuple)


def exported(
    module: Any, example_inputs: Sequence[Any], dynamic_shapes: Any = None
) -> tuple[str, Callable[[], list[Any]], bool]:
    """Export a module to linalg on tensors.

    Args:
        module, example_inputs, dynamic_shapes: as for `from_torch`.

    Returns:
        The program; what returns the parameters and buffers, which are its first arguments; and whether
        the module returns a tuple.

    Raises:
        CompileError: if torch or torch-mlir is not installed, or the module cannot be exported.
    """
    try:
        torch = importlib.import_module("torch")
        fx = importlib.import_module("torch_mlir.fx")
    except ImportError as error:
        raise CompileError(
            f"{error.name} is not installed; from_torch needs torch, and torch-mlir as the bindings"
        ) from None
    module = module if isinstance(module, torch.nn.Module) else _Function(torch, module).module
    state = dict(module.named_parameters()) | dict(module.named_buffers())
    lifted = _lifted(torch, module, list(state))
    held = [each.detach() for each in state.values()]
    if dynamic_shapes is not None:
        dynamic_shapes = ((*(None for _ in held), *dynamic_shapes),)
    try:
        with torch.no_grad():
            made = module(*example_inputs)
            program = fx.export_and_import(
                lifted,
                *held,
                *example_inputs,
                output_type="linalg-on-tensors",
                func_name=_ENTRY,
                dynamic_shapes=dynamic_shapes,
            )
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        raise CompileError(
            f"{type(module).__name__} cannot be exported: {type(error).__name__}: {first[0]}"
        ) from error
    names = list(state)

    def current() -> list[Any]:
        of_module = dict(module.named_parameters()) | dict(module.named_buffers())
        return [of_module[name].detach() for name in names]

    return str(program), current, isinstance(made, tuple)


class _Function:
    """A module that calls a function."""

    def __init__(self, torch: Any, function: Callable[..., Any]) -> None:
        class Called(torch.nn.Module):
            def forward(self, *inputs: Any) -> Any:
                return function(*inputs)

        self.module = Called()


def _lifted(torch: Any, module: Any, names: list[str]) -> Any:
    """Return a module whose first inputs are the parameters and buffers of another."""

    class Lifted(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            state = dict(zip(names, given[: len(names)], strict=True))
            return torch.func.functional_call(module, state, given[len(names) :])

    return Lifted()
