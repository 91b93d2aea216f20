"""Modules that LLVM may reject, given to `mlir_smem.compile`: types, intrinsics, assembly, names.

`compile` compiles them, or raises an exception that it documents.
"""

import re
from random import Random

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.codegen import CompileError, back_end
from mlir_smem.passes import OptionError

from .frame import Fuzzer, Wrong, main
from .llvm_grammar import ATTRIBUTES, GLOBALS, GRAMMAR, LINES
from .mutated.seeds import seeds
from .mutated.text import mutate_text

_PLACE = re.compile(r"\$([A-Z_]+)")

_FEATURES = "sm_90a", "sm_90a", "sm_100a", "sm_103a"


# -- drawing ---------------------------------------------------------------------------------------


def draw(random: Random) -> str:
    """Draw a module from the grammar, or a mutated lit test whose kernel reaches LLVM."""
    if random.random() < 0.3:
        kernels = [text for text in seeds() if " kernel" in text and "gpu.module" in text]
        return f"// {_arch(random)}\n{mutate_text(random, random.choice(kernels))}"
    if random.random() < 0.01:
        return f"// {_arch(random)}\n{_deep(random)}"
    lines = [_fill(random, random.choice(LINES), n) for n in range(random.choice((1, 1, 1, 2, 3)))]
    around = [
        _fill(random, random.choice(GLOBALS), 0) for _ in range(random.choice((0, 0, 0, 1, 2)))
    ]
    attributes = [ATTRIBUTES[0]] if random.random() < 0.8 else random.sample(ATTRIBUTES, 2)
    name = _fill(random, "$SYMBOL", 0) if random.random() < 0.15 else "kernel"
    argument = _fill(random, "$TYPE", 0) if random.random() < 0.25 else "memref<64xf32>"
    attribute_list = _fill(random, ", ".join(attributes), 0)
    body = "\n    ".join(lines)
    newline = "\n  "
    text = f"""gpu.module @m {{
  {newline.join(around)}
  gpu.func @{name}(%arg: {argument}, %p: !llvm.ptr) kernel attributes {{{attribute_list}}} {{
    %c = arith.constant 0 : i32
    %true = arith.constant true
    {body}
    gpu.return
  }}
}}
"""
    if random.random() < 0.1:
        text = mutate_text(random, text, 1)
    return f"// {_arch(random)}\n{text}"


def _deep(random: Random) -> str:
    """A kernel of nested regions."""
    depth = random.choice((200, 1000, 20000))
    begin, end = "scf.if %true {\n" * depth, "}\n" * depth
    constant = "%true = arith.constant true"
    return (
        f"gpu.module @m {{\ngpu.func @k() kernel {{\n{constant}\n{begin}{end}gpu.return\n}}\n}}\n"
    )


def _arch(random: Random) -> str:
    return f"{random.choice(_FEATURES)} {random.choice(('ptx',) * 30 + ('cubin', 'llvm'))}"


def _fill(random: Random, text: str, number: int) -> str:
    """Expand a text of the grammar; equal names expand to the same text."""
    chosen = {"N": str(number)}

    def fill(text: str) -> str:
        while match := _PLACE.search(text):
            name = match[1]
            if name not in chosen:
                # A type may contain another expansion of its own name.
                chosen[name] = fill(random.choice(GRAMMAR[name]))
            text = text[: match.start()] + chosen[name] + text[match.end() :]
        return text

    line, _, type_ = fill(text).partition(" => ")
    # An unused value would not reach LLVM.
    if type_ and random.random() < 0.8:
        line += f"\n    llvm.store %v{number}, %p : {type_}, !llvm.ptr"
    return line


# -- checking --------------------------------------------------------------------------------------


def check(text: str) -> None:
    """Compile a module; exceptions that `compile` documents are no failures."""
    first, _, module = text.partition("\n")
    arch, emit = first.removeprefix("// ").split() if first.startswith("// ") else ("sm_90a", "ptx")
    try:
        compiled = mlir_smem.compile(module, arch=arch, emit=emit)
    except (ir.MLIRError, CompileError, OptionError):
        return
    for kernel in compiled.manifest["kernels"]:
        name = kernel["entry"]
        if compiled.ptx and not re.search(rf"\.entry {re.escape(name)}\(", compiled.ptx):
            raise Wrong("no entry", "compile", f"the manifest has the kernel '{name}'")


# `compile` refuses an endless loop after ten minutes; the limit here is below the limit for a hang.
back_end.MAX_SECONDS = 8

FUZZER = Fuzzer("llvm", draw, check, lifetime=500)

if __name__ == "__main__":
    main(FUZZER)
