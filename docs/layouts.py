"""Print docs/layouts.md: the text of docs/layouts.md.in with its figures and tables.

With a folder as its argument, write the figures there.
"""

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mlir_smem.advisor import forms
from mlir_smem.advisor.pictures import AccessKind, Picture
from mlir_smem.layout import (
    Arch,
    Major,
    Mismatch,
    Role,
    Swizzle,
    descriptor_of,
    element,
    mma_tiles,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.tcgen05 import scale_layout
from mlir_smem.tools.smem_layout import smem_layout

BF16, TF32, UE8M0 = element("bf16"), element("tf32"), element("ue8m0")

#: The eight canonical forms with numbers: bf16, two patterns along each dimension.
FILLED = {
    (Major.K, Swizzle.NONE): "Swizzle<0,4,3> o ((8,2),(8,2)):((8,128),(1,64))",
    (Major.K, Swizzle.B32): "Swizzle<1,4,3> o ((8,2),16):((16,128),1)",
    (Major.K, Swizzle.B64): "Swizzle<2,4,3> o ((8,2),32):((32,256),1)",
    (Major.K, Swizzle.B128): "Swizzle<3,4,3> o ((8,2),64):((64,512),1)",
    (Major.MN, Swizzle.NONE): "Swizzle<0,4,3> o ((8,2),(8,2)):((1,64),(8,128))",
    (Major.MN, Swizzle.B32): "Swizzle<1,4,3> o ((16,2),(8,2)):((1,256),(16,128))",
    (Major.MN, Swizzle.B64): "Swizzle<2,4,3> o ((32,2),(8,2)):((1,512),(32,256))",
    (Major.MN, Swizzle.B128): "Swizzle<3,4,3> o ((64,2),(8,2)):((1,1024),(64,512))",
}

#: The form that tcgen05 adds: tf32, two patterns along each dimension.
NINTH = "Swizzle<2,5,2> o ((32,2),(4,2)):((1,256),(32,128))"

#: An operand whose instructions read 48 bytes along K: eight rows of three atoms.
LONG = "Swizzle<3,4,3> o (8,(256,3)):(256,(1,2048))"


def _form(major: Major, swizzle: Swizzle) -> str:
    return f"form-{major.value}-{str(swizzle).lower()}"


#: Each figure by the name of its file: the alternative text, and the arguments of `smem-layout plot`.
FIGURES: dict[str, tuple[str, str]] = {
    "row-major": (
        "A row-major tile of 8x64 bf16, as a matrix and in memory",
        "'(8,64):(64,1)' --element bf16 --view both --color row",
    ),
    "core-matrix": (
        "A core matrix of 8x8 bf16, element by element",
        "'(8,8):(8,1)' --element bf16 --elements --view logical --color bank",
    ),
    "column": (
        "8 rows of 16 bytes of a row-major tile: in one bank group without swizzle, in all with it",
        "'Swizzle<3,4,3> o (8,64):(64,1)' --element bf16 --access core --at 0,16 --compare",
    ),
    **{
        _form(major, swizzle): (
            f"{major}, swizzle {swizzle}: the operand and its memory",
            f"'{text}' --element bf16 --view both --operand a"
            + (" --color row" if major is Major.MN else ""),
        )
        for (major, swizzle), text in FILLED.items()
    },
    "k-step": (
        "The bytes that the second of four instructions along K reads",
        "--tile 64x64xbf16 --view both --access mma --at 0,16 --lines 16",
    ),
    "k-step-mn": (
        "The bytes of an M-major tile that the second of four instructions along K reads",
        "--tile 64x64xbf16 --contiguous rows --access mma --at 0,16 --lines 36",
    ),
    "base-offset-0": (
        "A tile that begins at 0x480; its swizzle pattern begins at address 0",
        "--tile 8x64xbf16 --start 0x480",
    ),
    "base-offset-1": (
        "A tile that begins at 0x480; its swizzle pattern begins at its start",
        "--tile 8x64xbf16 --start 0x480 --base-offset 1",
    ),
    "form-mn-128b_atom_32b": (
        "tf32, MN-major, the 128-byte swizzle of 32-byte units: the operand and its memory",
        f"'{NINTH}' --element tf32 --view both --operand a --color row --arch sm_100",
    ),
    "chunks": (
        "Eight rows of 768 4-bit elements, of which eight instructions read 48 bytes each",
        f"'{LONG}' --element e2m1 --arch sm_103 --k-bytes 48 --color instruction --view both",
    ),
    "chunk-step": (
        "The bytes that the third reads: the end of a line, and the start of a line in the next atom",
        f"'{LONG}' --element e2m1 --arch sm_103 --k-bytes 48 --access mma --at 0,192",
    ),
    "scale-block": (
        "The scale factors of 128 rows, 4 per row",
        f"'{scale_layout(UE8M0, 128, 4)}' --element ue8m0 --color row",
    ),
    "accumulator-64": ("D of 64 rows in tensor memory", "--accumulator 64x256"),
    "accumulator-128": ("D of 128 rows in tensor memory", "--accumulator 128x256"),
    "accumulator-pair": (
        "D of a CTA pair, 128 rows in each CTA",
        "--accumulator 256x256 --ctas 2",
    ),
    "accumulator-pair-64": (
        "D of a CTA pair, 64 rows in each CTA",
        "--accumulator 128x256 --ctas 2",
    ),
    "boxes": (
        "A tile of 16x128 that two TMA boxes fill",
        "--tile 16x128xbf16 --outline box --view both",
    ),
}


def main(arguments: Sequence[str]) -> None:
    if not arguments:
        text = Path(__file__).with_name("layouts.md.in").read_text()
        print(re.sub(r"\{\{(.*?)\}\}", lambda match: _expand(*match[1].split()), text), end="")
        return
    folder = Path(arguments[0])
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for name in FIGURES:
        draw(name, folder)


def draw(name: str, folder: Path) -> None:
    """Write a figure."""
    command = [*shlex.split(FIGURES[name][1]), "-o", str(folder / f"{name}.svg")]
    assert smem_layout(["plot", *command]) == 0, name


def _expand(name: str, *words: str) -> str:
    """Return the text for `{{name words}}`."""
    return {"figure": _figure, "image": _image, "table": _table, "steps": _steps_of}[name](*words)


def _figure(name: str) -> str:
    """Return a figure with its command."""
    return f"{_image(name)}\n\n```sh\nsmem-layout plot {FIGURES[name][1]} -o {name}.svg\n```"


def _image(name: str) -> str:
    return f"![{FIGURES[name][0]}](figures/{name}.svg)"


def _table(name: str) -> str:
    heads, rows = {
        "widths": (("swizzle", "wavefronts of a column", "the tile's address"), _widths()),
        "meanings": (("major", "swizzle", "layout", "LBO leads", "SBO leads"), _meanings()),
        "steps": (("major", "swizzle", "LBO", "SBO", "descriptor", "steps add"), _steps()),
        "modes": (("swizzle", "bits 62-63 for wgmma", "bits 61-63 for tcgen05"), _modes()),
    }[name]
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _widths() -> Iterator[tuple[Any, ...]]:
    for swizzle in reversed(WIDEST_FIRST):
        tile = parse_layout(f"{swizzle.cute} o (8,64):(64,1)", BF16)
        touched = Picture(tile, access=AccessKind.CORE).touched
        assert touched and touched.access
        yield swizzle, touched.access.wavefronts, f"a multiple of {swizzle.pattern_bytes} bytes"


def _meanings() -> Iterator[tuple[Any, ...]]:
    for row in (form.data() for form in forms()):
        layout = f"`{row['layout']}`"
        yield Major(row["major"]), row["swizzle"], layout, row["lbo"], row["sbo"]


def _modes() -> Iterator[tuple[Any, ...]]:
    modes = Arch.SM_90.descriptor.modes
    for swizzle in Swizzle:
        yield swizzle, modes.get(swizzle, "-"), Arch.SM_100.descriptor.modes[swizzle]


def _steps_of(major: str, swizzle: str) -> str:
    """Return a sentence about LBO and SBO in the figure of a canonical form."""
    element, arch = BF16, Arch.SM_90
    if (major, swizzle) == ("mn", str(Swizzle.B128_ATOM_32B)):
        text, element, arch = NINTH, TF32, Arch.SM_100
    else:
        text = next(t for (m, s), t in FILLED.items() if (m.value, str(s)) == (major, swizzle))
    steps = Picture(parse_layout(text, element), strides=True, arch=arch).descriptor_strides
    first, *rest = (f"{step.name} = {step.size} {{}} {step.to}" for step in steps)
    clauses = [first.format("leads to element"), *(clause.format("to") for clause in rest)]
    return f"In the figure, {' and '.join(clauses)}."


def _steps() -> Iterator[tuple[Any, ...]]:
    for major, swizzle in FILLED:
        tile = tile_of_atoms(BF16, (64, 64), 1 if major is Major.K else 0, swizzle)
        mma = mma_tiles(tile, Role.A)
        assert not isinstance(mma, Mismatch), mma
        canonical = mma.canonical
        lbo, sbo = ("-" if x is None else x for x in (canonical.lbo, canonical.sbo))
        descriptor = f"`{descriptor_of(canonical, 0x400).encode():#018x}`"
        yield major, swizzle, lbo, sbo, descriptor, ", ".join(map(str, mma.steps[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
