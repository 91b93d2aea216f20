"""The forms in which `smem-opt` writes a module: text, text for another LLVM, bytecode."""

import argparse
from io import BytesIO

from ..bindings.irtypes import Module
from ..interop.host_version import HostVersionError, for_llvm
from .diagnostics import Collector
from .inputs import InputError


def module_output(module: Module, options: argparse.Namespace) -> str | bytes:
    """Return a module in the form that the options ask for.

    Raises:
        HostVersionError: if the host's version of LLVM cannot represent an op.
        InputError: for a version of bytecode that does not exist.
    """
    if options.emit_bytecode:
        return _bytecode(module, options.emit_bytecode_version)
    if options.host_llvm:
        return _for_host(module, options)
    return module.operation.get_asm(
        print_generic_op_form=options.mlir_print_op_generic,
        enable_debug_info=options.mlir_print_debuginfo,
    )


def _for_host(module: Module, options: argparse.Namespace) -> str:
    def generic(locations: bool) -> str:
        return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations)

    try:
        return for_llvm(generic(options.mlir_print_debuginfo), options.host_llvm)
    except HostVersionError:
        for_llvm(generic(True), options.host_llvm)  # the error has a location
        raise


def _bytecode(module: Module, version: int | None) -> bytes:
    written = BytesIO()
    try:
        # The error says no more than its diagnostic.
        with Collector("").listen(module.context):
            module.operation.write_bytecode(written, desired_version=version)
    except ValueError as error:
        raise InputError(f"--emit-bytecode-version: {error}") from None
    return written.getvalue()
