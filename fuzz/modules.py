"""Mutated modules through every pass and pipeline: each is refused with a message, or becomes valid IR.

An input is a module after lines `// pass: NAME{options}`, one for each pass that runs.
"""

import re
from functools import cache
from random import Random

from mlir_smem.bindings import ir, passmanager
from mlir_smem.passes import OptionError, pass_named, passes
from mlir_smem.passes.driver.base import run_all
from mlir_smem.tools.diagnostics import Collector

from .frame import Fuzzer, Wrong, main
from .mutated.contexts import UNREGISTERED, context, parse, try_parse
from .mutated.ops import mutate
from .mutated.seeds import draw_seed
from .mutated.text import mutate_text

_PASS = "// pass: "

#: Upstream passes, which a host compiler runs between ours.
_UPSTREAM = ("canonicalize", "cse")

#: The most mutations that are tried until one is valid.
_TRIES = 6

#: Types, attributes and ops of the dialect.
_LEFT = re.compile(r"[!#]smem\.|\"smem\.\w+\"\(")

#: Strings that are not names of ops, and unused values that a host has made.
_NOT_OURS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?!\()|.* = unrealized_conversion_cast to .*')

_ARCHS = ("sm_90", "sm_90", "sm_100", "sm_103")

#: Text that no message may contain, since it comes from Python.
_FORBIDDEN = ("object at 0x", "<class '", "Traceback", "internal error", "NotImplemented")


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw a mutated module and passes."""
    arch = random.choice(_ARCHS)
    pipeline = [
        str(pass_) for pass_ in pass_named("smem-to-nvvm").from_text(f"arch={arch}").passes()
    ]
    text, names = _seed(random), _names(random, pipeline)
    if random.random() < 0.25:
        # Later passes get the output of earlier ones.
        before = random.randrange(1, len(pipeline))
        text = run_passes(text, pipeline[:before]) or text
        names = random.choice((pipeline[before:], pipeline[before : before + 1], names))
    header = _header(names)
    if random.random() < 0.05:
        header = UNREGISTERED + header
    # Most inputs must reach the passes; some test the parser alone.
    for _ in range(_TRIES):
        mutant = header + _mutate(random, text)
        if random.random() < 0.1 or try_parse(mutant):
            break
    return mutant


def _header(names: list[str]) -> str:
    return "".join(f"{_PASS}{name}\n" for name in names)


def _seed(random: Random) -> str:
    """Draw a module that is usually valid."""
    text = draw_seed(random)
    while random.random() < 0.9 and not _is_valid(text):
        text = draw_seed(random)
    return text


@cache
def _is_valid(text: str) -> bool:
    return try_parse(text) is not None


def _mutate(random: Random, text: str) -> str:
    chance = random.random()
    if chance > 0.4 and (module := try_parse(text)):
        if chance > 0.5:
            mutate(random, module)
        text = module.operation.get_asm(print_generic_op_form=True)
    return mutate_text(random, text) if chance <= 0.55 else text


def _names(random: Random, pipeline: list[str]) -> list[str]:
    """Draw the passes that run: one, the pipeline, a prefix of it, or a mixture."""
    chance = random.random()
    if chance < 0.4:
        return [_single(random)]
    if chance < 0.5:
        first = "smem-assign-layouts"
        options = next(name.removeprefix(first) for name in pipeline if name.startswith(first))
        return [f"smem-to-nvvm{options}"]
    if chance < 0.6:
        return pipeline
    if chance < 0.75:
        return pipeline[: random.randrange(2, len(pipeline))]
    if chance < 0.9:
        mixed = list(pipeline)
        for _ in range(random.randrange(1, 4)):
            mixed.insert(random.randrange(len(mixed) + 1), random.choice(_UPSTREAM))
        return mixed
    return [random.choice((_single(random), *_UPSTREAM)) for _ in range(random.randrange(2, 6))]


def _single(random: Random) -> str:
    """Draw a pass with options."""
    name, pass_ = random.choice([*passes().items()])
    values = {
        "arch": random.choice(_ARCHS),
        "max-swizzle": random.choice(("0", "32", "64", "128")),
        "explain": random.choice(("true", "false")),
        "max-bytes": random.choice(("0", "1024", "99999", "9999999999999")),
        "reserved-bytes": random.choice(("0", "1", "1000", "4294967296")),
    }
    options = [f"{key}={values[key]}" for key in pass_.options() if key in values]
    chosen = [option for option in options if option.startswith("arch") or random.random() < 0.2]
    return f"{name}{{{' '.join(chosen)}}}" if chosen else name


def run_passes(text: str, names: list[str]) -> str | None:
    """Run passes on a module and print it; None if one fails."""
    module = try_parse(_header(names) + text)
    with Collector("-").listen(context()):
        if module and all(_run(name, module) for name in names):
            return str(module)
    return None


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Check that each pass refuses the module with a message, or leaves a valid one.

    Raises:
        Wrong: if it does neither.
    """
    names = [
        line.removeprefix(_PASS) for line in text.splitlines() if line.startswith(_PASS.strip())
    ]
    collector = Collector("-")
    with collector.listen(context()):
        _check(text, names, collector)


def _check(text: str, names: list[str], collector: Collector) -> None:
    try:
        module = parse(text)
    except ir.MLIRError:
        _check_messages(collector, "parse")
        return
    for name in names:
        succeeded = _run(name, module)
        if not succeeded:
            _check_messages(collector, name.partition("{")[0])
            return
        if collector.has_error:
            raise Wrong("success with an error", name, collector.diagnostics[0].message)
        try:
            valid = module.operation.verify()
        except ir.MLIRError as error:
            valid = False
            collector.add("error", "", str(error))
        if not valid:
            messages = "; ".join(diagnostic.message for diagnostic in collector.diagnostics)
            raise Wrong("invalid IR", name.partition("{")[0], messages)
    printed = str(module)
    # Unknown ops are kept.
    if names and names[-1].startswith("smem-to-nvvm") and UNREGISTERED not in text:
        _check_lowered(printed)
    _check_printed(printed, text)


def _check_printed(printed: str, text: str) -> None:
    """Check that a printed module parses to itself, if the input does."""
    prefix = UNREGISTERED if UNREGISTERED in text else ""
    if (reprinted := _reprint(prefix + printed)) != printed and _reprint(prefix + str(parse(text))):
        pairs = zip(printed.splitlines(), (reprinted or "").splitlines(), strict=False)
        different = next((pair for pair in pairs if pair[0] != pair[1]), ("not parsed",))
        raise Wrong("printed differently", "print", "\n".join(different))


def _reprint(text: str) -> str | None:
    """Parse and print a module; None if it cannot be parsed."""
    try:
        return str(parse(text))
    except ir.MLIRError:
        return None


def _check_lowered(text: str) -> None:
    """Check that nothing of the dialect is left."""
    text = _NOT_OURS.sub('""', text)
    if leftover := _LEFT.search(text):
        line = text[text.rfind("\n", 0, leftover.start()) + 1 :].partition("\n")[0]
        raise Wrong("left over", "smem-to-nvvm", line.strip())


def _run(name: str, module: object) -> bool:
    """Run a pass of ours or of upstream; return whether it succeeded."""
    base, _, options = name.partition("{")
    if base not in passes():
        manager = passmanager.PassManager("builtin.module")
        manager.add(base)
        try:
            manager.run(module.operation)
        except ir.MLIRError:
            return False
        return True
    try:
        pass_ = pass_named(base).from_text(options.removesuffix("}"))
    except OptionError:
        return True
    return run_all(pass_, module.operation)


def _check_messages(collector: Collector, pass_name: str) -> None:
    """Check the messages of a refusal."""
    errors = [diagnostic for diagnostic in collector.diagnostics if diagnostic.severity == "error"]
    if not errors:
        raise Wrong("refused without a message", pass_name)
    for error in errors:
        for word in _FORBIDDEN:
            if word in error.message:
                raise Wrong(f"message with '{word}'", pass_name, error.message)
        if pass_name != "parse" and not error.line:
            raise Wrong("message without a location", pass_name, error.message)


FUZZER = Fuzzer("modules", draw, check, lifetime=3000)

if __name__ == "__main__":
    main(FUZZER)
