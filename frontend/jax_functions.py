"""Functions of JAX as executables."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bindings.mlir import PACKAGE
from ..codegen import CompileError
from ..runtime import LaunchError
from .executable import Executable
from .host_program import HostProgram, compile_program
from .stablehlo import linalg_of

#: Ops of CHLO as ops of StableHLO, by a pass of jaxlib; torch-mlir's wheel does not read CHLO.
_FROM_CHLO = (
    "builtin.module(func.func(stablehlo-legalize-composite-to-call,chlo-legalize-to-stablehlo))"
)


@dataclass(frozen=True)
class ExportedFunction:
    """An exported function.

    Attributes:
        text: the program, in linalg on tensors; it takes and returns the leaves of the trees.
        in_avals, out_avals: shapes and element types of the leaves of arguments and result.
        in_tree, out_tree: the trees of the arguments and of the result.
    """

    text: str
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    in_tree: Any
    out_tree: Any


class JaxExecutable(Executable):
    """A function of JAX, compiled; it takes and returns the function's trees (pytrees).

    Args:
        program: the compiled program.
        on: what it runs on.
        function: the exported function.
    """

    def __init__(self, program: HostProgram, on: str, function: ExportedFunction) -> None:
        self._load(program, on)
        self._function, self._jax = function, importlib.import_module("jax")

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"function": self._function}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._function, self._jax = state["function"], importlib.import_module("jax")

    def __call__(self, *arguments: Any) -> Any:
        """Run the function.

        Args:
            arguments: as the example inputs: the same tuples, lists, dictionaries and other nodes, with
                arrays of the same shapes and element types, or numbers for arrays without dimensions.

        Returns:
            What the function returns.

        Raises:
            LaunchError: for arguments that do not fit; else see `Executable`.
        """
        leaves, tree = self._jax.tree_util.tree_flatten(arguments)
        if tree != self._function.in_tree:
            raise LaunchError(
                f"the arguments are {tree}; expected, as the example inputs, {self._function.in_tree}"
            )
        arrays = [
            self._array(number, leaf, aval) if isinstance(leaf, _NUMBERS) else self._readable(leaf)
            for number, (leaf, aval) in enumerate(zip(leaves, self._function.in_avals, strict=True))
        ]
        results = super().__call__(*arrays)
        avals = self._function.out_avals
        outputs = [
            # The program's integers are signless.
            array.view(aval.dtype) if array.dtype != aval.dtype else array
            for array, aval in zip(results if len(avals) > 1 else [results], avals, strict=False)
        ]
        return self._jax.tree_util.tree_unflatten(self._function.out_tree, outputs)

    def _array(self, number: int, value: Any, aval: Any) -> Any:
        """Return a number as an array without dimensions.

        Raises:
            LaunchError: if the element type does not have the number.
        """
        library = np if self.on == "cpu" else self._jax.numpy
        floats = self._jax.numpy.issubdtype(aval.dtype, np.floating)
        array = np.asarray(value).astype(aval.dtype)
        is_bool = isinstance(value, bool | np.bool_)
        is_rounded = floats and not is_bool
        if not is_rounded and (array != value or (aval.dtype == bool) != is_bool):
            raise LaunchError(f"argument {number} is {value!r}, which {aval.dtype} does not hold")
        return library.asarray(array)

    def _readable(self, array: Any) -> Any:
        """Return an array of NumPy in the type and the order in which JAX reads it; a copy if needed."""
        if not isinstance(array, np.ndarray):
            return array
        return np.asarray(array, self._jax.dtypes.canonicalize_dtype(array.dtype), order="C")


#: Numbers that a call takes in the place of arrays.
_NUMBERS = (bool, int, float, np.generic)


def from_jax(
    function: Callable[..., Any],
    *example_inputs: Any,
    on: str = "gpu",
    mixed: bool = False,
    **options: Any,
) -> JaxExecutable:
    """Compile a function of JAX.

    JAX lowers it to StableHLO, which becomes linalg; products become kernels (`linalg-to-smem`). Products
    of f32 whose `jax.lax.Precision` is HIGHEST, or whose algorithm has more bits than tf32, are none.

    Args:
        function: a function of arrays, or of trees of them, which `jax.jit` takes.
        example_inputs: arrays, `jax.ShapeDtypeStruct`, or trees of them.
        on: "gpu", or "cpu" for the emulator.
        mixed: see `Executable`.
        options: options of `linalg-to-smem`, dashes as underscores.

    Returns:
        An executable that takes arrays of those shapes, and returns what the function returns.

    Raises:
        CompileError: if jax or torch-mlir is not installed, or an op of StableHLO has no form in linalg.
        MLIRError: if the program cannot be lowered.

    Example:
        >>> import jax, ml_dtypes
        >>> x = np.ones((64, 64), ml_dtypes.bfloat16)
        >>> product = from_jax(lambda a, b: jax.nn.relu(a @ b), x, x, on="cpu")
        >>> float(product(x, x)[0, 0])
        64.0
    """
    exported = export_jax(function, example_inputs)
    program = compile_program(exported.text, "main", on=on, mixed=mixed, linalg=options)
    return JaxExecutable(program, on, exported)


def export_jax(function: Callable[..., Any], example_inputs: Sequence[Any]) -> ExportedFunction:
    """Export a function to linalg on tensors.

    Args:
        function, example_inputs: as for `from_jax`.

    Raises:
        CompileError: if jax or torch-mlir is not installed, or an op of StableHLO has no form in linalg.
    """
    try:
        jax = importlib.import_module("jax")
        importlib.import_module(f"{PACKAGE}._mlir_libs._stablehlo")
        importlib.import_module(f"{PACKAGE}._mlir_libs._torchMlir")  # registers the passes
    except ImportError as error:
        raise CompileError(
            f"{error.name} is not installed; from_jax needs jax, and torch-mlir as the bindings"
        ) from None
    # An unused argument stays one of the program.
    lowered = jax.jit(function, keep_unused=True).lower(*example_inputs)
    in_avals, in_tree = jax.tree_util.tree_flatten(lowered.in_avals[0])
    out_avals, out_tree = jax.tree_util.tree_flatten(lowered.out_info)
    text = linalg_of(_stablehlo(lowered))
    return ExportedFunction(text, in_avals, out_avals, in_tree, out_tree)


def _stablehlo(lowered: Any) -> str:
    """Return a lowered function in StableHLO, without ops of CHLO."""
    ir, passmanager, dialect = (
        importlib.import_module(f"jaxlib.mlir.{name}")
        for name in ("ir", "passmanager", "dialects.stablehlo")
    )
    dialect.register_stablehlo_passes()
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        # JAX keeps the module for the next time.
        module = ir.Module.parse(str(module))
        passmanager.PassManager.parse(_FROM_CHLO).run(module.operation)
        return str(module)
