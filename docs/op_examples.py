"""The examples of ops in docs/ops, and their kernel."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "ops"
#: The file of the kernel; its line `// The example is here.` is replaced.
KERNEL = FOLDER / "kernel.mlir"
_HERE = re.compile(r"^ *// The example is here\.\n", re.MULTILINE)


def example(op: str) -> str:
    """Return the example of an op, for example of `mma_sp`.

    Raises:
        FileNotFoundError: if it has none.
    """
    return (FOLDER / f"{op}.mlir").read_text()


def architecture(text: str) -> str:
    """Return the architecture of an example: that of its comment, `sm_90a` without one."""
    match = re.match(r"// For (sm_\w+)", text)
    return match[1] if match else "sm_90a"


def program(text: str) -> str:
    """Return an example as a module: a module itself, or ops in the kernel, after their type aliases.

    The comment `// In a CTA of N threads` changes the kernel's block size, which is 128.
    """
    if "gpu.module" in text:
        return text
    aliases = re.findall(r"^!.*\n", text, re.MULTILINE)
    body = re.sub(r"^!.*\n", "", text, flags=re.MULTILINE)
    threads = re.match(r"// In a CTA of (\d+) threads", text)
    kernel = KERNEL.read_text()
    if threads:
        kernel = kernel.replace("i32: 128,", f"i32: {threads[1]},")
    return "".join(aliases) + _HERE.sub(lambda _: body, kernel)
