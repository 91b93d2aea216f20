"""`@sl.kernel`: a Python function as a kernel, which is compiled, checked and explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..codegen import Compiled, compile_in_place
from ..dialect import new_context
from ..ir.kernel import functions_of
from ..passes import pass_named
from ..passes.check_async.assumptions import remark_assumptions
from ..runtime import cached_compile
from .call.on_arrays import CallableOnArrays
from .diagnosis import Remarks, remarks, run_located
from .errors import TraceError
from .options import KernelOptions
from .performance import warn_of_code
from .traced_function import TracedFunction

#: How waits, fences and barriers get into a kernel: `smem-insert-sync` inserts them, or its author does.
SYNC = ("auto", "manual")


class Kernel(TracedFunction, CallableOnArrays):
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
        is_in_order = self.options.inserts_sync
        synchronization = {"insert_sync": True, "pipeline": "marked"} if is_in_order else {}
        return {"mask_accesses": True, **synchronization}

    def compile(
        self,
        *arguments: Any,
        arch: str = "sm_90a",
        emit: str = "cubin",
        debug_info: str = "none",
        **constants: Any,
    ) -> Compiled:
        """Compile the kernel; see `mlir_smem.compile`.

        Args:
            arguments: arrays, numbers, or element types.
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
        kernel_constants, options_of_call = self._split(constants)
        with new_context():
            module = self.trace(*arguments, **kernel_constants)
            options = {**self.lowering, **options_of_call}
            compiled = run_located(
                lambda: compile_in_place(module, arch, emit, debug_info=debug_info, **options),
                module,
            )
        warn_of_code(self.function, compiled.report)
        return compiled

    def ptx(self, *arguments: Any, **options: Any) -> str:
        """Return the PTX; arguments as for `compile`.

        Example:
            >>> ".entry double" in double.ptx(sl.f32, sl.f32)
            True
        """
        ptx = self.compile(*arguments, emit="ptx", **options).ptx
        assert ptx is not None
        return ptx

    def cubin(
        self, *arguments: Any, arch: str = "sm_90a", debug_info: str = "none", **constants: Any
    ) -> bytes:
        """Return the machine code, from the cache on disk that calls use; arguments as for `compile`.

        Example:
            >>> len(double.cubin(sl.f32, sl.f32)) > 0
            True
        """
        kernel_constants, options = self._split(constants)
        if debug_info != "none":
            options["debug_info"] = debug_info
        with new_context():
            module = self.trace(*arguments, **kernel_constants)
            options = {**self.lowering, **options}
            compiled = run_located(lambda: cached_compile(module, arch, **options), module)
        warn_of_code(self.function, compiled.report)
        assert compiled.cubin is not None
        return compiled.cubin

    def _split(self, keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the constants of the kernel among keywords, and the options of `smem-to-nvvm`.

        Raises:
            TraceError: for another keyword.
        """
        kernel_constants = {
            name: value for name, value in keywords.items() if name in self.constants
        }
        options_of_call = {
            name: value for name, value in keywords.items() if name not in self.constants
        }
        options = {name.replace("-", "_") for name in pass_named("smem-to-nvvm").options()}
        for name in options_of_call:
            if name not in options | {"source_name"}:
                constants = ", ".join(self.constants) or "none"
                raise TraceError(
                    f"{self.__name__} has no constant {name}; it has {constants}, and options of compile"
                )
        return kernel_constants, options_of_call

    def explain(self, *arguments: Any, **options: Any) -> Remarks:
        """Return why the passes chose what they chose, at the lines of the kernel; printed, as text.

        Args:
            arguments: arrays, numbers, or element types.
            options: constants, and options as for `compile`.

        Example:
            >>> double.explain(sl.f32, sl.f32)
            ()
        """
        with remarks() as collected:
            self.compile(*arguments, emit="nvvm", explain=True, **options)
        return Remarks(collected)

    def check(self, *arguments: Any, **options: Any) -> Remarks:
        """Prove that accesses of tiles are in order, and return what is not proven: nothing, if all is.
        What the kernel assumes (`sl.assume`) is not proven.

        Args:
            arguments: arrays, numbers, or element types.
            options: constants, and options as for `compile`.

        Raises:
            TraceError: for an access that is out of order, at its line.

        Example:
            >>> double.check(sl.f32, sl.f32)
            ()
        """
        kernel_constants = {
            name: value for name, value in options.items() if name in self.constants
        }
        with remarks() as collected:
            self.compile(*arguments, emit="nvvm", **options)
            with new_context():
                for function in functions_of(self.trace(*arguments, **kernel_constants)):
                    remark_assumptions(function)
        return Remarks(collected)


def kernel(
    signature: str,
    *,
    warpgroups: int = 1,
    sync: str = "auto",
    cluster: tuple[int, ...] = (1, 1, 1),
    min_blocks: int | None = None,
    contract: bool = True,
    fast: bool = False,
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
        min_blocks: CTAs that a multiprocessor holds at least, which limits registers; 1, if partitions
            have numbers of registers.
        contract: whether `a * b + c`, `a * b - c` and `c - a * b`, of floats of up to 32 bits, become an
            fma, which rounds once, where the product has no other use. Of `a * b + c * d`, the left
            product does.
        fast: whether `/` is `fdiv`, division by a number is multiplication by its reciprocal, and `cos`,
            `exp`, `exp2`, `log`, `log2`, `sin`, `sqrt`, `tanh` are approximations; they say how good.

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
    options = KernelOptions(warpgroups, cluster, min_blocks, sync == "auto", contract, fast)
    return lambda function: Kernel(function, signature, options)
