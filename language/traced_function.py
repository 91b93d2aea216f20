"""The part of a kernel that needs nothing to compile or run it: a function, and its trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..bindings.mlir import ir, is_dialect_loaded
from ..dialect import new_context
from ..dialect.smem import Smem
from .build import build
from .diagnosis import run_located
from .dtypes import DType, dtype_of
from .errors import TraceError, without_frames
from .locations import FOLDER
from .misuse import misuse_of
from .options import KernelOptions
from .signature import Parameter, parse
from .trace import in_own_words

#: Options of `compile`, which are no names for constants of a trace.
_OPTIONS = ("arch", "debug_info", "emit", "on", "out", "stream")


class TracedFunction:
    """The part of `Kernel` that traces; generators of modules use it alone.

    Args:
        function: the Python function.
        signature: of its arrays and numbers, as `kernel` takes it.
        options: of the decorator.

    Raises:
        TraceError: for a malformed signature, or one that does not fit the function.
    """

    __name__: str

    def __init__(
        self, function: Callable[..., Any], signature: str, options: KernelOptions
    ) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = self.function = function
        self.options = options
        self.parameters, self.constants = _parameters(function, signature)

    def __repr__(self) -> str:
        constants = [
            name if value is inspect.Parameter.empty else f"{name}={value!r}"
            for name, value in self.constants.items()
        ]
        parameters = [f"{name} {parameter}" for name, parameter in self.parameters.items()]
        keywords = ["*", *constants] if constants else []
        return f"<kernel {self.__name__}: {', '.join([*parameters, *keywords])}>"

    def dtypes(self, *arguments: Any) -> dict[str, DType | None]:
        """Return the element type of each parameter for arguments of a call; None for an argument None.

        Args:
            arguments: arrays, numbers, element types, or None; none for parameters whose types are fixed.

        Raises:
            TraceError: for another number of arguments, or a type that the signature does not have.
        """
        names = list(self.parameters)
        if not arguments and all(parameter.dtype for parameter in self.parameters.values()):
            return {name: dtype_of(parameter.dtype) for name, parameter in self.parameters.items()}
        if len(arguments) != len(names):
            raise TraceError(
                f"{self.__name__} takes {len(names)} arguments ({', '.join(names)}), not {len(arguments)}"
            )
        dtypes = {
            name: None if argument is None else dtype_of(argument)
            for name, argument in zip(names, arguments, strict=True)
        }
        for name, dtype in dtypes.items():
            fixed = self.parameters[name].dtype
            if fixed is not None and dtype is not None and fixed != dtype:
                raise TraceError(f"{name} of {self.__name__} is of {dtype}; expected {fixed}")
        return dtypes

    def trace(self, *arguments: Any, **constants: Any) -> Any:
        """Return the module of the kernel, in the current context, or in a new one.

        Args:
            arguments: arrays, numbers, or element types; None for a parameter that is None in the kernel.
            constants: for keyword-only parameters.

        Returns:
            An `ir.Module`, verified.

        Raises:
            TraceError: for a mistake in the kernel, at its line, or in the arguments.

        Example:
            >>> module = double.trace(sl.f32, sl.f32)
            >>> [str(op.operation.name) for op in module.body.operations]
            ['gpu.module']
        """
        dtypes, values = self.dtypes(*arguments), self._constants(constants)
        if _is_ready():
            return self._build_verified(dtypes, values)
        with new_context():
            return self._build_verified(dtypes, values)

    def mlir(self, *arguments: Any, locations: bool = False, **constants: Any) -> str:
        """Return the module as text; with `locations`, with the lines of the kernel.

        Example:
            >>> print(double.mlir(sl.f32, sl.f32).splitlines()[1].split("(")[0])
              gpu.module @kernels {
        """
        with new_context():
            module = self.trace(*arguments, **constants)
            return module.operation.get_asm(enable_debug_info=locations)

    def _constants(self, constants: dict[str, Any]) -> dict[str, Any]:
        for name in constants:
            if name not in self.constants:
                choices = ", ".join(self.constants) or "none"
                raise TraceError(f"{self.__name__} has no constant {name}; it has {choices}")
        values = {**self.constants, **constants}
        for name, value in values.items():
            if value is inspect.Parameter.empty:
                raise TraceError(f"{self.__name__} needs the constant {name}")
        return values

    def _build_verified(self, dtypes: dict[str, DType | None], constants: dict[str, Any]) -> Any:
        try:
            module = build(self.function, self.parameters, dtypes, constants, self.options)
        except TraceError as error:
            raise error.with_traceback(without_frames(error.__traceback__, FOLDER)) from None
        except (TypeError, AttributeError) as error:
            misuse = misuse_of(error, [name for name, dtype in dtypes.items() if dtype is None])
            if misuse is None:
                raise
            raise misuse from error
        try:
            run_located(module.operation.verify, module)
        except TraceError as error:
            error.message = in_own_words(error.message)
            raise
        return module


def _is_ready() -> bool:
    """Whether the current context has the dialect."""
    try:
        context = ir.Context.current
    except ValueError:
        return False
    return context is not None and is_dialect_loaded(context, Smem.DIALECT_NAMESPACE)


def _parameters(
    function: Callable[..., Any], signature: str
) -> tuple[dict[str, Parameter], dict[str, Any]]:
    """Return the parameters by name, and the constants with their defaults."""
    arrays: list[str] = []
    constants: dict[str, Any] = {}
    name = function.__name__
    if not (name.isidentifier() and name.isascii()):
        raise TraceError(f"a kernel is a function with a name, which its code gets; not {name}")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.name in _OPTIONS:
                raise TraceError(
                    f"{name} has the constant {parameter.name}, which is an option of a call; rename it"
                )
            constants[parameter.name] = parameter.default
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TraceError(
                f"{name} has the parameter {parameter}; a kernel has a fixed number of them"
            )
        else:
            arrays.append(parameter.name)
    parsed = parse(signature)
    if len(parsed) != len(arrays):
        raise TraceError(
            f"the signature {signature!r} has {len(parsed)} parameters, but {name} has {len(arrays)}: "
            f"{', '.join(arrays) or 'none'}"
        )
    return dict(zip(arrays, parsed, strict=True)), constants
