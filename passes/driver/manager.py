"""The passes of this project on a pass manager of the bindings."""

from collections.abc import Callable
from typing import Any, TypeAlias

from ...bindings.mlir import PACKAGE, ir, passmanager
from ...dialect.arguments import wrong_argument
from ...ir.kernel import MODULES
from .base import OptionError, Pass, find_pass, pass_named
from .textual import PipelineEntry, module_entries, nested_entries, unwrap

#: The bindings have no type stubs; see `bindings.irtypes`.
PassManager: TypeAlias = Any

#: The ops of managers that passes of this project run in; "any" is the anchor of a manager of all ops.
_ANCHORS = (*MODULES, "any")


def add_pass(pm: PassManager, pass_: Pass) -> None:
    """Add a pass, or all passes of a pipeline, to a pass manager of `builtin.module`.

    Args:
        pm: a `PassManager` of the bindings, anchored on `builtin.module`.
        pass_: the pass, with its options as fields.

    Raises:
        TypeError, OptionError: see `add_passes`.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.bindings import passmanager
        >>> with new_context():
        ...     pm = passmanager.PassManager("builtin.module")
        ...     add_pass(pm, pass_named("smem-assign-layouts")(explain=True))
    """
    _check_manager("passes.add_pass", pm)
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
    if _anchor(pm) not in _ANCHORS:
        raise OptionError(
            f"mlir_smem.{function}: pm runs on {_anchor(pm)}; expected a PassManager of builtin.module"
        )


def _anchor(pm: PassManager) -> str:
    """Return the op on which a manager runs; the bindings show it only in the manager's text."""
    return str(pm).partition("(")[0]


def _add(pm: PassManager, pass_: Pass) -> None:
    """Add a pass that has been checked; the manager's text names it with its options."""
    pm.add(pass_, name=pass_.name, argument=str(pass_), description=pass_.description)


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
        >>> from mlir_smem.bindings import ir, passmanager
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


def parse_pipeline(text: str, pm: PassManager | None = None) -> PassManager:
    """Parse a textual pipeline, in which passes of this project and of upstream may be mixed.

    The text of a manager, `str(pm)`, is such a pipeline: it gives an equal manager.

    Args:
        text: for example "builtin.module(smem-to-nvvm,gpu.module(canonicalize,cse))"; a list without an
            anchor runs on what `pm` runs on.
        pm: a `PassManager` of the bindings, anchored on `builtin.module`, `gpu.module` or any op, to
            which the passes are added; without it, a new one for the anchor of the text
            (`builtin.module` for a list without an anchor), in the current context.

    Returns:
        The manager.

    Raises:
        OptionError: for malformed text, an unknown pass or option, a pass of this project that is not
            directly in a module, or a manager of ops other than modules.
        TypeError: if `pm` is not a pass manager of these bindings, or `text` is not text.
        ValueError: without `pm`, if no context is current.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.bindings import ir
        >>> with new_context():
        ...     module = ir.Module.parse(mlir_smem.examples.path("mma.mlir").read_text())
        ...     pm = parse_pipeline("builtin.module(smem-to-nvvm,gpu.module(cse))")
        ...     pm.run(module.operation)
        >>> "smem.mma" in str(module)
        False
    """
    _check_text("parse_pipeline", "text", text)
    if pm is not None:
        _check_manager("parse_pipeline", pm)
    anchor, inner = unwrap(text)
    if pm is None:
        pm = _new_manager(anchor or MODULES[0])
    runs_on = _anchor(pm)
    if anchor == runs_on:
        entries = nested_entries(inner, text) if inner else []
    elif runs_on == "gpu.module" and anchor == MODULES[0]:
        raise OptionError(f"pipeline '{text}': runs on {anchor}, but pm runs on {runs_on}")
    else:
        entries = module_entries(text)
    for entry in entries:
        _add_entry(pm, entry, runs_on)
    return pm


def _new_manager(anchor: str) -> PassManager:
    try:
        current = ir.Context.current
    except ValueError:
        current = None
    if current is None:
        raise ValueError(
            f"mlir_smem.parse_pipeline: no MLIR context of {PACKAGE} is current; enter one by "
            "`with context:`, or give pm"
        )
    return passmanager.PassManager(anchor)


def _add_entry(pm: PassManager, entry: PipelineEntry, runs_on: str) -> None:
    """Add an entry to a manager; a pipeline of this project is one pass."""
    if find_pass(entry.name) is None:
        _add_upstream(pm, entry)
        return
    _check_anchor(entry, runs_on)
    _add(pm, pass_named(entry.name).from_text(entry.options))


def _check_anchor(entry: PipelineEntry, runs_on: str) -> None:
    inner = (runs_on, *entry.anchors)[-1]
    if entry.anchors or runs_on not in _ANCHORS:
        raise OptionError(
            f"{entry.name} runs on {MODULES[0]}, not on {inner}; put it directly into {MODULES[0]}(...)"
        )


def _check_text(function: str, parameter: str, text: Any) -> None:
    if not isinstance(text, str):
        raise wrong_argument(f"mlir_smem.{function}", parameter, text, "text")


def entry_passes(entry: PipelineEntry) -> list[tuple[str, Callable[[PassManager], None]]]:
    """Return the passes that an entry of a pipeline runs, each with its name.

    A function adds the pass to a pass manager of `builtin.module`.

    Raises:
        OptionError: see `parse_pipeline`; for passes of upstream, when they are added.
    """
    if find_pass(entry.name) is None:
        return [(entry.name, lambda pm: _add_upstream(pm, entry))]
    _check_anchor(entry, MODULES[0])
    pass_ = pass_named(entry.name).from_text(entry.options)
    return [(member.name, lambda pm, member=member: _add(pm, member)) for member in pass_.passes()]


def _add_upstream(pm: PassManager, entry: PipelineEntry) -> None:
    try:
        pm.add(entry.upstream)
    except ValueError as error:
        raise OptionError(_upstream_error(entry, str(error))) from None


def _upstream_error(entry: PipelineEntry, message: str) -> str:
    if "does not refer to a registered pass" in message:
        return (
            f"no pass is named '{entry.name}'; --list-passes shows those of smem, mlir-opt --help "
            "those of upstream"
        )
    return f"{entry.upstream}: {message.strip()}"
