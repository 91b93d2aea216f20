"""`@sl.kernel`: a Python function as a kernel, and what can be asked of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..codegen import Compiled, compile_in_place
from ..dialect import new_context
from ..dialect.bindings import ir, is_dialect_loaded
from ..dialect.smem import Smem
from ..passes import pass_named
from ..runtime import cached_compile
from .build import Options, build
from .call.on_arrays import OnArrays
from .diagnosis import Remarks, remarks, run_located
from .dtypes import DType, dtype_of
from .errors import TraceError, without_frames
from .places import FOLDER
from .signature import Parameter, parse

#: How waits, fences and barriers get into a kernel: `smem-insert-sync` inserts them, or its author does.
SYNC = ("auto", "manual")

#: Options of `compile`, which are no names for constants of a trace.
_OPTIONS = ("arch", "debug_info", "emit", "on", "out", "stream")


class Kernel(OnArrays):
    """A kernel: what `@sl.kernel` makes of a function. It is called on arrays.

    Its other methods take the arguments of a call, where an element type can stand for an array or a
    number.

    Attributes:
        function: the Python function.
        parameters: its arrays and numbers, by name, as the signature has them.
        constants: its keyword-only parameters and their defaults, which the trace takes as they are.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], signature: str, options: Options) -> None:
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = self.function = function
        self.options = options
        self.parameters, self.constants = _parameters(function, signature)

    @property
    def lowering(self) -> dict[str, Any]:
        """Options of `compile` that the kernel itself needs."""
        return {"insert_sync": True} if self.options.inserts_sync else {}

    def dtypes(self, *given: Any) -> dict[str, DType]:
        """Return the element type of each parameter for arguments of a call.

        Args:
            given: arrays, numbers, or element types; none for parameters whose types are fixed.

        Raises:
            TraceError: for another number of arguments, or a type that the signature does not have.
        """
        names = list(self.parameters)
        if not given and all(each.dtype for each in self.parameters.values()):
            return {name: dtype_of(each.dtype) for name, each in self.parameters.items()}
        if len(given) != len(names):
            raise TraceError(
                f"{self.__name__} takes {len(names)} arguments ({', '.join(names)}), not {len(given)}"
            )
        found = {name: dtype_of(each) for name, each in zip(names, given, strict=True)}
        for name, dtype in found.items():
            fixed = self.parameters[name].dtype
            if fixed is not None and fixed != dtype:
                raise TraceError(f"{name} of {self.__name__} is of {dtype}; expected {fixed}")
        return found

    def trace(self, *given: Any, **constants: Any) -> Any:
        """Return the module of the kernel, in the current context, or in a new one.

        Args:
            given: arrays, numbers, or element types.
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
        dtypes, values = self.dtypes(*given), self._constants(constants)
        if _is_ready():
            return self._traced(dtypes, values)
        with new_context():
            return self._traced(dtypes, values)

    def mlir(self, *given: Any, locations: bool = False, **constants: Any) -> str:
        """Return the module as text; with `locations`, with the lines of the kernel.

        Example:
            >>> print(double.mlir(sl.f32, sl.f32).splitlines()[1].split("(")[0])
              gpu.module @kernels {
        """
        with new_context():
            module = self.trace(*given, **constants)
            return module.operation.get_asm(enable_debug_info=locations)

    def compile(
        self,
        *given: Any,
        arch: str = "sm_90a",
        emit: str = "cubin",
        debug_info: str = "none",
        **constants: Any,
    ) -> Compiled:
        """Compile the kernel; see `mlir_smem.compile`.

        Args:
            given: arrays, numbers, or element types.
            arch: the architecture.
            emit: the last stage: "nvvm", "llvm", "ptx" or "cubin".
            debug_info: "lines" for the line of the kernel of each instruction.
            constants: for keyword-only parameters, and options of `smem-to-nvvm`.

        Raises:
            TraceError: for a mistake, at the line of the kernel.

        Example:
            >>> double.compile(sl.f32, sl.f32, emit="ptx").manifest["kernels"][0]["entry"]
            'double'
        """
        own, rest = self._split(constants)
        with new_context():
            module = self.trace(*given, **own)
            options = {**self.lowering, **rest}
            return run_located(
                lambda: compile_in_place(module, arch, emit, debug_info=debug_info, **options)
            )

    def ptx(self, *given: Any, **options: Any) -> str:
        """Return the PTX; arguments as for `compile`.

        Example:
            >>> ".entry double" in double.ptx(sl.f32, sl.f32)
            True
        """
        ptx = self.compile(*given, emit="ptx", **options).ptx
        assert ptx is not None
        return ptx

    def cubin(
        self, *given: Any, arch: str = "sm_90a", debug_info: str = "none", **constants: Any
    ) -> bytes:
        """Return the machine code, from the cache on disk that calls use; arguments as for `compile`.

        Example:
            >>> len(double.cubin(sl.f32, sl.f32)) > 0
            True
        """
        own, options = self._split(constants)
        if debug_info != "none":
            options["debug_info"] = debug_info
        with new_context():
            module = self.trace(*given, **own)
            options = {**self.lowering, **options}
            made = run_located(lambda: cached_compile(module, arch, **options))
        assert made.cubin is not None
        return made.cubin

    def _split(self, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the constants of the kernel among keywords, and the options of `smem-to-nvvm`.

        Raises:
            TraceError: for another keyword.
        """
        own = {name: value for name, value in given.items() if name in self.constants}
        rest = {name: value for name, value in given.items() if name not in self.constants}
        options = {name.replace("-", "_") for name in pass_named("smem-to-nvvm").options()}
        for name in rest:
            if name not in options | {"source_name"}:
                known = ", ".join(self.constants) or "none"
                raise TraceError(
                    f"{self.__name__} has no constant {name}; it has {known}, and options of compile"
                )
        return own, rest

    def explain(self, *given: Any, **options: Any) -> Remarks:
        """Return why the passes chose what they chose, at the lines of the kernel; printed, as text.

        Args:
            given: arrays, numbers, or element types.
            options: constants, and options as for `compile`.

        Example:
            >>> double.explain(sl.f32, sl.f32)
            ()
        """
        with remarks() as found:
            self.compile(*given, emit="nvvm", explain=True, **options)
        return Remarks(found)

    def check(self, *given: Any, **options: Any) -> Remarks:
        """Prove that accesses of tiles are in order, and return what is not proven: nothing, if all is.

        Args:
            given: arrays, numbers, or element types.
            options: constants, and options as for `compile`.

        Raises:
            TraceError: for an access that is out of order, at its line.

        Example:
            >>> double.check(sl.f32, sl.f32)
            ()
        """
        with remarks() as found:
            self.compile(*given, emit="nvvm", **options)
        return Remarks(found)

    def _constants(self, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in self.constants:
                known = ", ".join(self.constants) or "none"
                raise TraceError(f"{self.__name__} has no constant {name}; it has {known}")
        values = {**self.constants, **given}
        for name, value in values.items():
            if value is inspect.Parameter.empty:
                raise TraceError(f"{self.__name__} needs the constant {name}")
        return values

    def _traced(self, dtypes: dict[str, DType], constants: dict[str, Any]) -> Any:
        try:
            module = build(self.function, self.parameters, dtypes, constants, self.options)
        except TraceError as error:
            raise error.with_traceback(without_frames(error.__traceback__, FOLDER)) from None
        run_located(module.operation.verify)
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
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY:
            if each.name in _OPTIONS:
                raise TraceError(
                    f"{name} has the constant {each.name}, which is an option of a call; rename it"
                )
            constants[each.name] = each.default
        elif each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise TraceError(
                f"{name} has the parameter {each}; a kernel has a fixed number of them"
            )
        else:
            arrays.append(each.name)
    parsed = parse(signature)
    if len(parsed) != len(arrays):
        raise TraceError(
            f"the signature {signature!r} has {len(parsed)} parameters, but {name} has {len(arrays)}: "
            f"{', '.join(arrays) or 'none'}"
        )
    return dict(zip(arrays, parsed, strict=True)), constants


def kernel(
    signature: str,
    *,
    warpgroups: int = 1,
    sync: str = "auto",
    cluster: tuple[int, ...] = (1, 1, 1),
    min_blocks: int | None = None,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel, by tracing it: `@sl.kernel("(M,K), (K,N), (M,N)")`.

    Args:
        signature: the extents of each array, as in NumPy's generalised ufuncs: equal names are equal
            extents, a number is a fixed extent, "()" is a number. ":(?,1)" adds strides in elements,
            ":bf16" an element type; without, arrays are contiguous, and the call gives the type.
        warpgroups: of a CTA, of 128 threads each.
        sync: "auto": each statement is complete, for all threads of its partition, before the next one
            begins; `smem-insert-sync` inserts waits, groups of copies, fences and barriers. "manual": the
            kernel has them itself, and mma run until `sl.wait`.
        cluster: CTAs of a cluster along x, y and z.
        min_blocks: CTAs that a multiprocessor holds at least, which limits registers.

    Raises:
        TraceError: for a malformed signature, or one that does not fit the function.

    Example:
        >>> @sl.kernel("(M,64), (M,64)")
        ... def double(A, B):
        ...     row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 64)) * 64
        ...     sl.store(sl.load(A[row : row + 64, :]) * 2.0, B[row : row + 64, :])
        >>> double.compile(sl.f32, sl.f32).report.spill_bytes
        0
    """
    if sync not in SYNC:
        raise TraceError(
            f'sync is {sync!r}; expected "auto", or "manual" for a kernel that has its waits, fences and '
            "barriers"
        )
    options = Options(warpgroups, cluster, min_blocks, sync == "auto")
    return lambda function: Kernel(function, signature, options)
