"""Modules of PyTorch as executables."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..codegen import CompileError
from ..layout.elements import UNIT_BYTES
from ..runtime import LaunchError
from .call_signature import Part, ProgramCall, TensorType, ViewOp, check_writes
from .executable import Executable
from .host_program import compile_program
from .machines import to_torch
from .torch_export import ENTRY, ExportedModule, export_torch


class TorchExecutable:
    """A module of PyTorch, compiled; its parameters and buffers stay those of the module.

    A call does what a call of the module does. It writes the buffers, parameters and arguments that the
    module writes; it returns what the module returns, in the same tuples, lists and dictionaries. An
    argument, a buffer, or a view of one is returned as such. Gradients are not computed. Pickled, it has
    the module in it.

    Attributes:
        executable: the program; its parameters come before the inputs.
        text: the program in linalg, as torch-mlir exported it.
        signature: the inputs and results of the program, and the results that are written back.
    """

    def __init__(self, executable: Executable, program: ExportedModule) -> None:
        self.executable, self.text, self.signature = executable, program.text, program.signature
        self._exported = program

    def __repr__(self) -> str:
        return f"<a module of PyTorch: {self.executable!r}>"

    def __call__(self, *inputs: Any) -> Any:
        """Run the module.

        Args:
            inputs: tensors as the example inputs: of their element types and, but for dynamic dimensions,
                shapes; numbers and other values must equal those of the example inputs.

        Raises:
            LaunchError: for tensors that do not fit, and if one that is written shares memory with
                another.
        """
        pytree = importlib.import_module("torch.utils._pytree")
        leaves, spec = pytree.tree_flatten(inputs)
        if spec != self._exported.in_spec:
            raise LaunchError(
                f"the arguments are {spec}; expected, as the example inputs, {self._exported.in_spec}"
            )
        call = ProgramCall(self.signature, _TENSORS, leaves, self._exported.tensor)
        outputs, rebound = call.finish(self._run(call.inputs))
        for name, tensor in rebound.items():
            self._exported.state.set(name, tensor)
        return pytree.tree_unflatten(outputs, self._exported.out_spec)

    def _run(self, inputs: Sequence[Any]) -> list[Any]:
        """Run the program, and return its results."""
        count = self.signature.results
        if not count:
            return []
        results = self.executable(*map(readable, inputs))
        # A program without array arguments returns arrays of NumPy.
        arrays = results if count > 1 else (results,)
        return [to_torch(array) if isinstance(array, np.ndarray) else array for array in arrays]


class _Tensors:
    """Operations of a call on tensors of PyTorch."""

    def type_of(self, array: Any) -> TensorType | None:
        if not isinstance(array, _torch().Tensor):
            return None
        return TensorType(str(array.dtype).removeprefix("torch."), tuple(array.shape))

    def shares_memory(self, first: Any, second: Any) -> bool:
        if first.untyped_storage().data_ptr() != second.untyped_storage().data_ptr():
            return False
        try:
            return np.shares_memory(_Extent(first), _Extent(second), max_work=_MAX_WORK)
        except np.exceptions.TooHardError:
            return True

    def assign(self, target: Any, value: Any) -> None:
        with _torch().no_grad():
            target.copy_(value)

    def view(self, array: Any, view: ViewOp) -> Any:
        packet, _, overload = view.op.removeprefix("aten.").partition(".")
        op = getattr(getattr(_torch().ops.aten, packet), overload)
        with _torch().no_grad():
            views = op(array, *view.arguments)
        return views if view.item is None else views[view.item]

    def part(self, memory: Any, part: Part) -> Any:
        return memory.as_strided(part.shape, part.strides, part.offset)

    def empty(self, size: int, like: Any) -> Any:
        return like.new_empty(size)


_TENSORS = _Tensors()

#: NumPy's steps after which tensors count as sharing memory; interleaved columns take fewer than 100.
_MAX_WORK: Any = 10**6


class _Extent:
    """The address, extents and strides of a tensor for NumPy, which does not read the memory."""

    def __init__(self, tensor: Any) -> None:
        size = tensor.element_size()
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), True),
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * size for stride in tensor.stride()),
            "typestr": f"|V{size}",
            "version": 3,
        }


def _torch() -> Any:
    return sys.modules["torch"]


def readable(tensor: Any) -> Any:
    """Return a tensor that is contiguous and aligned to 16 bytes, as TMA requires; a copy if needed."""
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

    torch-mlir exports it to linalg; products become kernels (`linalg-to-smem`). The module is traced, not
    run, and nothing of it changes.

    Args:
        module: an `nn.Module`, or a function of tensors.
        example_inputs: tensors, of which shapes and element types are read, also in tuples, lists and
            dictionaries; numbers and other values become part of the program.
        dynamic_shapes: as `torch.export.export` takes it.
        on: "gpu", or "cpu" for the emulator.
        mixed: see `Executable`.
        options: options of `linalg-to-smem`, dashes as underscores.

    Returns:
        What takes tensors in the place of the example inputs.

    Raises:
        CompileError: if torch or torch-mlir is not installed, or the module cannot be exported; also if
            it changes something else than tensors, or draws random numbers.
        MLIRError: if the program cannot be lowered.

    Example:
        >>> import torch  # on a GPU
        >>> layer = torch.nn.Linear(256, 512, dtype=torch.bfloat16, device="cuda")  # on a GPU
        >>> x = torch.randn(64, 256, dtype=torch.bfloat16, device="cuda")  # on a GPU
        >>> torch.allclose(from_torch(layer, x)(x), layer(x), atol=0.05)  # on a GPU
        True
    """
    program = export_torch(module, example_inputs, dynamic_shapes)
    try:
        check_writes(program.signature, _TENSORS, program.captured_tensors)
    except LaunchError as error:
        raise CompileError(str(error)) from None
    compiled = compile_program(program.text, ENTRY, on=on, mixed=mixed, linalg=options)
    return TorchExecutable(Executable.of(compiled, on), program)
