"""The worked examples of the PTX ISA: 9.7.15.5.1.2.1.3 (wgmma) and 9.7.16.3.3 (tcgen05).

Both sections work the same five layouts.
"""

from dataclasses import dataclass

import pytest

from mlir_smem.layout import (
    FORMS,
    Canonical,
    Major,
    Swizzle,
    WgmmaDescriptor,
    descriptor_of,
    element,
    match,
    parse_layout,
)


@dataclass(frozen=True)
class Example:
    """One example as the ISA prints it; byte offsets in elements, None where it says NA."""

    element: str
    major: Major
    swizzle: Swizzle
    exact: str
    canonical: str
    lbo: int | None
    sbo: int
    encoded_lbo: int
    encoded_sbo: int

    @property
    def strides(self):
        """LBO and SBO in bytes."""
        size = element(self.element).bits // 8
        return None if self.lbo is None else self.lbo * size, self.sbo * size


EXAMPLES = [
    Example(
        "tf32",
        Major.K,
        Swizzle.NONE,
        exact="Swizzle<0,4,3> o ((8,2),(4,4)):((4,32),(1,64))",
        canonical="((8,m),(T,2k)):((1T,SBO),(1,LBO))",
        lbo=64,
        sbo=32,
        encoded_lbo=16,
        encoded_sbo=8,
    ),
    Example(
        "tf32",
        Major.K,
        Swizzle.B32,
        exact="Swizzle<1,4,3> o ((8,2),(4,4)):((8,64),(1,4))",
        canonical="((8,m),(T,2k)):((2T,SBO),(1,T))",
        lbo=None,
        sbo=64,
        encoded_lbo=1,
        encoded_sbo=16,
    ),
    Example(
        "bf16",
        Major.MN,
        Swizzle.NONE,
        exact="Swizzle<0,4,3> o ((8,1,2),(8,2)):((1,8,64),(8,128))",
        canonical="((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))",
        lbo=128,
        sbo=64,
        encoded_lbo=16,
        encoded_sbo=8,
    ),
    Example(
        "bf16",
        Major.MN,
        Swizzle.B32,
        exact="Swizzle<1,4,3> o ((8,2,2),(8,2)):((1,8,128),(16,256))",
        canonical="((T,2,m),(8,k)):((1,T,LBO),(2T,SBO))",
        lbo=128,
        sbo=256,
        encoded_lbo=16,
        encoded_sbo=32,
    ),
    Example(
        "bf16",
        Major.MN,
        Swizzle.B64,
        exact="Swizzle<2,4,3> o ((8,4,2),(8,2)):((1,8,256),(32,512))",
        canonical="((T,4,m),(8,k)):((1,T,LBO),(4T,SBO))",
        lbo=256,
        sbo=512,
        encoded_lbo=32,
        encoded_sbo=64,
    ),
]

FIGURES = [f"wgmma-figure-{n}" for n in range(166, 171)]
FIGURES += [f"tcgen05-figure-{n}" for n in range(188, 193)]
every_example = pytest.mark.parametrize("example", EXAMPLES + EXAMPLES, ids=FIGURES)


def layout_of(example):
    """The example's layout, filled in with m = k = 2 as the ISA does."""
    lbo, sbo = example.strides
    form = FORMS[example.major, example.swizzle]
    return form.layout(element(example.element), m=2, k=2, lbo=lbo or 0, sbo=sbo)


@every_example
def test_canonical_layout(example):
    assert FORMS[example.major, example.swizzle].text == example.canonical


@every_example
def test_exact_layout(example):
    assert str(layout_of(example)) == example.exact


@every_example
def test_exact_layout_can_be_read(example):
    assert parse_layout(example.exact, element(example.element)) == layout_of(example)


@every_example
def test_match_gives_the_strides_back(example):
    lbo, sbo = example.strides
    assert match(layout_of(example)) == Canonical(FORMS[example.major, example.swizzle], lbo, sbo)


@every_example
def test_encoded_strides(example):
    lbo, sbo = example.strides
    canonical = Canonical(FORMS[example.major, example.swizzle], lbo, sbo)
    bits = descriptor_of(canonical, start=0).encode()
    assert bits >> 16 & 0x3FFF == example.encoded_lbo
    assert bits >> 32 & 0x3FFF == example.encoded_sbo


@every_example
def test_decoded_strides(example):
    lbo, sbo = example.strides
    canonical = Canonical(FORMS[example.major, example.swizzle], lbo, sbo)
    descriptor = WgmmaDescriptor.decode(descriptor_of(canonical, start=0x400).encode())
    assert (descriptor.lbo, descriptor.sbo) == (16 if lbo is None else lbo, sbo)
    assert (descriptor.start, descriptor.swizzle) == (0x400, example.swizzle)
