"""The passes of this project on a pass manager of the bindings."""

from collections.abc import Callable
from typing import Any, TypeAlias

from ...dialect.arguments import wrong_argument
from ...dialect.bindings import passmanager
from ...dialect.diagnostics import emit_op_error
from ...dialect.irtypes import Module
from ...ir.errors import OpError
from ...ir.kernel import MODULES
from ...ir.nesting import check_nesting
from .base import OptionError, Pass, run_on
from .registry import pass_named, passes
from .textual import Leaf, parse_pipeline

#: The bindings have no type stubs; see `dialect.irtypes`.
PassManager: TypeAlias = Any


def add_pass(pm: PassManager, pass_: Pass) -> None:
    """Add a pass, or all passes of a pipeline, to a pass manager of `builtin.module`.

    Args:
        pm: a `PassManager` of the bindings, anchored on `builtin.module`.
        pass_: the pass, with its options as fields.

    Raises:
        TypeError, OptionError: see `add_passes`.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.dialect.bindings import passmanager
        >>> with new_context():
        ...     pm = passmanager.PassManager("builtin.module")
        ...     add_pass(pm, pass_named("smem-assign-layouts")(explain=True))
    """
    _check_manager("add_pass", pm)
    if not isinstance(pass_, Pass):
        raise wrong_argument(
            "mlir_smem.passes.add_pass", "pass_", pass_, "an mlir_smem.passes.Pass"
        )
    _add(pm, pass_)


def _check_manager(function: str, pm: PassManager) -> None:
    """Check that passes of this project can be added to a pass manager.

    Raises:
        TypeError: if it is not a pass manager of these bindings.
        OptionError: if it runs on ops other than modules.
    """
    if not isinstance(pm, passmanager.PassManager):
        raise wrong_argument(f"mlir_smem.{function}", "pm", pm, "a PassManager")
    # The bindings give the anchor of a manager only in its text; "any" is that of a manager of all ops.
    anchor = str(pm).partition("(")[0]
    if anchor not in (*MODULES, "any"):
        raise OptionError(
            f"mlir_smem.{function}: pm runs on {anchor}; expected a PassManager of builtin.module"
        )


def _add(pm: PassManager, pass_: Pass) -> None:
    """Add a pass that has been checked.

    A pipeline is one pass of the manager, which verifies the module once, after the whole pipeline.
    Verifying after each of the passes would take a third of their time.
    """

    def run(module: Module, external: Any) -> None:
        name = module.operation.name
        if name not in MODULES:
            emit_op_error(module, f"is not what {pass_.name} runs on; expected {MODULES[0]}")
        if name not in MODULES or not run_all(pass_, module):
            external.signal_pass_failure()

    pm.add(run, name=pass_.name, argument=pass_.name, description=pass_.description)


def run_all(pass_: Pass, module: Module) -> bool:
    """Run a pass, or all passes of a pipeline; return False if one failed, after a located diagnostic."""
    try:
        check_nesting(module)
    except OpError as error:
        emit_op_error(error.op, error.message)
        return False
    return all(run_on(each, module) for each in pass_.passes())


def add_passes(pm: PassManager, name: str, **options: Any) -> PassManager:
    """Add the pass or pipeline of that name to the pass manager of a host compiler.

    Args:
        pm: a `PassManager` of the bindings, anchored on `builtin.module`, `gpu.module` or any op.
        name: for example "smem-to-nvvm".
        options: the pass's options, dashes as underscores.

    Returns:
        The manager.

    Raises:
        OptionError: for an unknown name or option, or a manager of ops other than modules.
        TypeError: if `pm` is not a pass manager of these bindings, or `name` is not text.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.dialect.bindings import ir, passmanager
        >>> with new_context():
        ...     module = ir.Module.parse(mlir_smem.examples.path("mma.mlir").read_text())
        ...     pm = passmanager.PassManager("builtin.module")
        ...     add_passes(pm, "smem-to-nvvm", arch="sm_90").run(module.operation)
        >>> str(module).count("nvvm.wgmma.mma_async")
        4
    """
    _check_manager("add_passes", pm)
    _check_text("add_passes", "name", name)
    _add(pm, pass_named(name).from_options(options))
    return pm


def add_pipeline(pm: PassManager, text: str) -> PassManager:
    """Add a textual pipeline, in which passes of this project and of upstream may be mixed.

    Args:
        pm: a `PassManager` of the bindings, anchored on `builtin.module`.
        text: for example "builtin.module(smem-to-nvvm,gpu.module(canonicalize,cse))".

    Returns:
        The manager.

    Raises:
        OptionError: for malformed text, an unknown pass or option, a pass of this project that is not
            directly in `builtin.module`, or a manager of ops other than modules.
        TypeError: if `pm` is not a pass manager of these bindings, or `text` is not text.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.dialect.bindings import ir, passmanager
        >>> with new_context():
        ...     module = ir.Module.parse(mlir_smem.examples.path("mma.mlir").read_text())
        ...     pm = passmanager.PassManager("builtin.module")
        ...     add_pipeline(pm, "builtin.module(smem-to-nvvm,gpu.module(cse))").run(module.operation)
        >>> "smem.mma" in str(module)
        False
    """
    _check_manager("add_pipeline", pm)
    _check_text("add_pipeline", "text", text)
    for leaf in parse_pipeline(text):
        for _, add in leaf_passes(leaf):
            add(pm)
    return pm


def _check_text(function: str, parameter: str, given: Any) -> None:
    if not isinstance(given, str):
        raise wrong_argument(f"mlir_smem.{function}", parameter, given, "text")


def leaf_passes(leaf: Leaf) -> list[tuple[str, Callable[[PassManager], None]]]:
    """Return the passes that a leaf of a pipeline runs: the name of each, and a function that adds it to
    a pass manager of `builtin.module`.

    Raises:
        OptionError: see `add_pipeline`; for passes of upstream, when they are added.
    """
    if leaf.name not in passes():
        return [(leaf.name, lambda pm: _add_upstream(pm, leaf))]
    if leaf.anchors:
        raise OptionError(
            f"{leaf.name} runs on builtin.module, not on {leaf.anchors[-1]}; put it directly into "
            "builtin.module(...)"
        )
    ours = pass_named(leaf.name).from_text(leaf.options)
    return [(each.name, lambda pm, each=each: _add(pm, each)) for each in ours.passes()]


def _add_upstream(pm: PassManager, leaf: Leaf) -> None:
    try:
        pm.add(leaf.upstream)
    except ValueError as error:
        raise OptionError(_upstream_error(leaf, str(error))) from None


def _upstream_error(leaf: Leaf, message: str) -> str:
    if "does not refer to a registered pass" in message:
        return (
            f"no pass is named '{leaf.name}'; --list-passes shows those of smem, mlir-opt --help "
            "those of upstream"
        )
    return f"{leaf.upstream}: {message.strip()}"
