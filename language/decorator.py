"""`@sl.kernel`: a Python function as a kernel, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..codegen import Compiled, compile_in_place
from ..dialect import new_context
from ..ir.kernel import functions_of
from ..passes import pass_named
from ..passes.check_async.assumptions import remark_assumptions
from ..runtime import cached_compile
from .build import Options
from .call.on_arrays import OnArrays
from .diagnosis import Remarks, remarks, run_located
from .errors import TraceError
from .traced_function import TracedFunction

#: How waits, fences and barriers get into a kernel: `smem-insert-sync` inserts them, or its author does.
SYNC = ("auto", "manual")


class Kernel(TracedFunction, OnArrays):
    """A kernel: what `@sl.kernel` makes of a function. It is called on arrays.

    Its other methods take the arguments of a call, where an element type can stand for an array or a
    number.

    Attributes:
        function: the Python function.
        parameters: its arrays and numbers, by name, as the signature has them.
        constants: its keyword-only parameters and their defaults, which the trace takes as they are.
    """

    @property
    def lowering(self) -> dict[str, Any]:
        """Options of `compile` that the kernel itself needs."""
        return {"insert_sync": True} if self.options.inserts_sync else {}

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
        What the kernel assumes (`sl.assume`) is not proven.

        Args:
            given: arrays, numbers, or element types.
            options: constants, and options as for `compile`.

        Raises:
            TraceError: for an access that is out of order, at its line.

        Example:
            >>> double.check(sl.f32, sl.f32)
            ()
        """
        own = {name: value for name, value in options.items() if name in self.constants}
        with remarks() as found:
            self.compile(*given, emit="nvvm", **options)
            with new_context():
                for function in functions_of(self.trace(*given, **own)):
                    remark_assumptions(function)
        return Remarks(found)


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
