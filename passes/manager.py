"""Our passes on a pass manager of the bindings."""

from typing import Any

from .base import Pass, run_on
from .registry import pass_named


def add_pass(pm: Any, pass_: Pass) -> None:
    """Adds a pass, or all passes of a pipeline, to a manager of `builtin.module`."""
    for each in pass_.passes():
        pm.add(
            _runner(each),
            name=each.name,
            argument=each.name,
            description=each.description,
        )


def _runner(pass_: Pass) -> Any:
    def run(module: Any, external: Any) -> None:
        if not run_on(pass_, module):
            external.signal_pass_failure()

    return run


def add_passes(pm: Any, name: str, **options: Any) -> Any:
    """Adds the pass or pipeline of that name to a host compiler's pass manager.

    Args:
        pm: a `PassManager` of the bindings, anchored on `builtin.module`.
        name: for example "smem-to-nvvm".
        options: the pass's options, dashes as underscores.

    Returns:
        The manager.

    Raises:
        OptionError: for an unknown name or option.
    """
    add_pass(pm, pass_named(name).from_options(options))
    return pm
