"""Host programs that launch kernels, compiled and called on arrays."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any, Self

from ..bindings.mlir import ir
from ..dialect.arguments import wrong_argument
from ..runtime import Kernel, LaunchError, Matrix
from .host_engine import HostEngine
from .host_program import HostProgram, compile_program
from .host_runtime import HostCall, HostRuntime
from .host_signature import ArrayType, NumberType, Results
from .machines import CpuMachine, GpuMachine, Machine

#: What programs run on.
MACHINES = ("gpu", "cpu")


class Executable:
    """A program of the host that launches kernels, compiled, with its kernels.

    The function of the host computes extents, allocates memory, and launches kernels; LLVM compiles it
    for the CPU. It is called with arrays of NumPy, PyTorch, CuPy or JAX. Memory that it allocates is of
    the first array's library, and a result is a view of it (JAX, which has no views, gets a copy).

    Executables can be pickled. What a program becomes is kept on disk, as a compiled kernel is
    (`runtime.cached_compile`), and read the next time.

    Args:
        module: the program: an `ir.Module`, which is not changed, MLIR text, or bytecode.
        entry: the name of the function; None if only one function is public.
        on: "gpu", or "cpu" for the emulator and arrays in host memory.
        arch: the architecture of the kernels.
        mixed: whether ops on memory that only a CPU runs (single loads, loops of loads and stores) do so,
            on copies in host memory; a remark at each says what is copied.
        options: options of `smem-to-nvvm`, dashes as underscores.

    Attributes:
        entry: the name of the function.
        on: what it runs on.
        kernels: the kernels' code (`codegen.Compiled`), by the name of their `gpu.module`.

    Raises:
        MLIRError, CompileError: if the program cannot be compiled; also if it works on memory by an op
            that only a CPU can run.
        LaunchError: for an argument or a result that no array or number fits.
        OptionError: for an unknown option.
        ValueError, TypeError: for an unknown machine, or a module of another type.

    Example:
        >>> program = '''
        ... func.func @main(%x: memref<?xf32>) {
        ...   %c0 = arith.constant 0 : index
        ...   %c1 = arith.constant 1 : index
        ...   %n = memref.dim %x, %c0 : memref<?xf32>
        ...   gpu.launch blocks(%i, %j, %k) in (%a = %n, %b = %c1, %c = %c1)
        ...              threads(%t, %u, %v) in (%d = %c1, %e = %c1, %f = %c1) {
        ...     %before = memref.load %x[%i] : memref<?xf32>
        ...     %after = arith.addf %before, %before : f32
        ...     memref.store %after, %x[%i] : memref<?xf32>
        ...     gpu.terminator
        ...   }
        ...   return
        ... }
        ... '''
        >>> x = np.arange(3, dtype=np.float32)
        >>> Executable(program, on="cpu")(x)
        >>> x.tolist()
        [0.0, 2.0, 4.0]
    """

    def __init__(
        self,
        module: Any,
        entry: str | None = None,
        *,
        on: str = "gpu",
        arch: str = "sm_90a",
        mixed: bool = False,
        **options: Any,
    ) -> None:
        if not isinstance(module, str | bytes | ir.Module):
            expected = "an ir.Module, MLIR text or bytecode"
            raise wrong_argument("Executable", "module", module, expected)
        if on not in MACHINES:
            raise ValueError(f"unknown machine '{on}'; expected {' or '.join(MACHINES)}")
        if isinstance(module, ir.Module):
            with module.context, module.operation.location:
                module = module.operation.get_asm(
                    enable_debug_info=True, print_generic_op_form=True
                )
        self._load(
            compile_program(module, entry, on=on, arch=arch, mixed=mixed, options=options), on
        )

    @classmethod
    def of(cls, program: HostProgram, on: str) -> Self:
        """Return a compiled program as an executable."""
        executable = cls.__new__(cls)
        executable._load(program, on)
        return executable

    def _load(self, program: HostProgram, on: str) -> None:
        code = program.code
        self.on, self.entry, self.kernels = on, code.entry, code.kernels
        self._program = program
        self._inputs, self._results = code.inputs, Results(code.results)
        self._runtime = HostRuntime(code.kernels, code.assertions)
        self._engine = HostEngine(program.host, self._runtime.functions)
        self._loaded: dict[tuple[int, int, str], Kernel] = {}
        #: The descriptors of the latest arrays, by the numbers of the arguments.
        self._packed: dict[int, tuple[Any, Any]] = {}
        # Its argument is an array of addresses: of each argument, and of the returned number.
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.address)

    def __getstate__(self) -> dict[str, Any]:
        return {"program": self._program, "on": self.on}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._load(state["program"].for_this_cpu(), state["on"])

    def __repr__(self) -> str:
        return f"<{self.entry}, which launches {', '.join(self.kernels) or 'no kernel'}>"

    def __call__(self, *arguments: Any) -> Any:
        """Run the program; on a GPU, its kernels are enqueued on the arrays' current stream.

        Args:
            arguments: an array or a number for each argument of the function. On a CPU, what NumPy can
                only copy, such as a number for an array without dimensions, is read-only.

        Returns:
            The function's result: an array or a number; a tuple of several; None without one. An array of
            the caller that the function returns whole is that array.

        Raises:
            LaunchError: for arguments that do not fit the function or its kernels, and for an assertion
                of the program that fails; on a CPU, for a copy to a read-only array.
            EmulationError, Violations: as `runtime.launch_on_cpu` has them, for example where a kernel
                writes to a read-only array.
        """
        if len(arguments) != len(self._inputs):
            raise LaunchError(
                f"{self.entry} takes {len(self._inputs)} arguments, but {len(arguments)} are given"
            )
        arrays = [
            argument
            for argument, slot in zip(arguments, self._inputs, strict=True)
            if isinstance(slot, ArrayType)
        ]
        machine: Machine = (
            CpuMachine(arrays) if self.on == "cpu" else GpuMachine(arrays, self._loaded)
        )
        c_arguments: list[Any] = []
        matrices: list[tuple[Matrix, Any]] = []
        for number, (argument, slot) in enumerate(zip(arguments, self._inputs, strict=True)):
            if isinstance(slot, NumberType):
                c_arguments.append(slot.pack(argument))
                continue
            read = machine.read(slot.subject, argument)
            matrices.append((read[0], argument))
            # Parameters of a model are the same in each call.
            packed = self._packed.get(number)
            if packed is None or packed[0] != read:
                packed = self._packed[number] = read, slot.pack(*read)
            c_arguments.append(packed[1])
        memory, call = self._results.memory(), HostCall(machine)
        c_values = self._results.c_values(memory, c_arguments)
        addresses = (ctypes.c_void_p * len(c_values))(*map(ctypes.addressof, c_values))
        self._runtime.run(call, lambda: self._call(ctypes.addressof(addresses)))
        results = [
            _array(machine, raw, slot, call.memory, matrices)
            if isinstance(slot, ArrayType)
            else raw
            for raw, slot in zip(self._results.read(memory), self._results.types, strict=True)
        ]
        machine.finish()
        return tuple(results) if len(results) > 1 else results[0] if results else None


def _array(
    machine: Machine,
    matrix: Matrix,
    slot: ArrayType,
    memory: dict[int, Any],
    matrices: list[tuple[Matrix, Any]],
) -> Any:
    """Return a result as an array.

    Args:
        machine: the machine that ran the program.
        matrix: the address, extents and strides of the result.
        slot: the result's type.
        memory: the arrays that own the memory that the program allocated, by their addresses.
        matrices: the caller's arrays, with their addresses, extents and strides.

    Raises:
        LaunchError: if the result is a part of one of the caller's arrays.
    """
    is_empty = 0 in matrix.shape
    for array_matrix, array in matrices:
        # The strides of an array without elements may differ.
        if array_matrix == (replace(matrix, strides=array_matrix.strides) if is_empty else matrix):
            return array
    if is_empty:
        begin, empty_memory = machine.allocate(0)
        return machine.view(empty_memory, begin, replace(matrix, pointer=begin), slot.element)
    begin = max((address for address in memory if address <= matrix.pointer), default=None)
    if begin is None or matrix.pointer > begin + getattr(memory[begin], "nbytes", 0):
        raise LaunchError(
            f"{slot.subject} is at {matrix.pointer:#x}, in no memory that the program allocated; return "
            "a whole argument, or a copy"
        )
    return machine.view(memory[begin], begin, matrix, slot.element)
