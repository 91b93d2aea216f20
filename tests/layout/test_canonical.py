"""The eight canonical forms: layouts that match them, and near misses that do not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import elements

from mlir_smem.layout import (
    FORMS,
    Canonical,
    Major,
    Mismatch,
    Mode,
    Swizzle,
    element,
    match,
    parse_layout,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST

forms = st.sampled_from(list(FORMS.values()))
strides = st.integers(0, (1 << 14) - 1).map(lambda unit: 16 * unit)
repeats = st.integers(1, 5)


def test_there_is_a_form_for_each_major_and_swizzle():
    assert set(FORMS) == {(major, swizzle) for major in Major for swizzle in WIDEST_FIRST}


def test_a_canonical_layout_knows_its_form():
    canonical = Canonical(FORMS[Major.K, Swizzle.B64], None, 512)
    assert canonical.form.text == "((8,m),(T,2k)):((4T,SBO),(1,T))"


@pytest.mark.parametrize("major, text", [(Major.K, "K-major"), (Major.MN, "MN-major")])
def test_major_in_words(major, text):
    assert str(major) == text


# Matches.


def free_strides(form, m, k):
    """The free strides that elements depend on, with m and k repeats."""
    counts = {"m": m, "k": k, "2k": 2 * k}
    return {
        stride
        for dim in (0, 1)
        for factor, stride in zip(form.factors[dim], form.strides[dim], strict=True)
        if stride in ("LBO", "SBO") and counts[factor] > 1
    }


@given(forms, elements, repeats, repeats, strides, strides)
def test_a_form_with_any_strides_matches_itself(form, element_type, m, k, lbo, sbo):
    expected = Canonical(
        form,
        lbo if "LBO" in free_strides(form, m, k) else None,
        sbo if "SBO" in free_strides(form, m, k) else None,
    )
    assert match(form.layout(element_type, m, k, lbo, sbo)) == expected


@given(forms, elements, repeats, repeats, strides, strides)
def test_merging_modes_changes_nothing(form, element_type, m, k, lbo, sbo):
    layout = form.layout(element_type, m, k, lbo, sbo)
    assert match(layout.coalesced()) == match(layout)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda f: f"{f.major}-{f.swizzle}")
@pytest.mark.parametrize("name", ["LBO", "SBO"])
def test_what_a_stride_steps_over(form, name):
    element_type, lbo, sbo = element("bf16"), 8192, 16384
    step = form.step(name, element_type)
    assert (step is None) == (name not in form.text)
    if step:
        dim, count = step
        offsets = form.layout(element_type, 2, 2, lbo, sbo).offsets()
        assert offsets.take(count, dim).flat[0] == {"LBO": lbo, "SBO": sbo}[name]


def test_a_part_of_a_pattern_matches():
    layout = parse_layout("Swizzle<3,4,3> o (32,16):(1,64)", element("bf16"))
    assert match(layout) == Canonical(FORMS[Major.MN, Swizzle.B128], None, 1024)


def test_a_single_line_matches():
    layout = parse_layout("(1,16):(0,1)", element("bf16"))
    assert match(layout) == Canonical(FORMS[Major.K, Swizzle.NONE], 16, None)


# Near misses.


@st.composite
def near_misses(draw, free):
    """A form with one stride an element too large: a free one, or one that the form fixes."""
    form = draw(forms)
    m, k = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    layout = form.layout(draw(elements), m, k, draw(strides), draw(strides))
    where = [
        (dim, i)
        for dim in (0, 1)
        for i, stride in enumerate(form.strides[dim])
        if (stride in ("LBO", "SBO")) == free and layout.modes[dim][i].extent > 1
    ]
    dim, i = draw(st.sampled_from(where))
    modes = [list(dim) for dim in layout.modes]
    modes[dim][i] = Mode(modes[dim][i].extent, modes[dim][i].stride + 1)
    return replace(layout, modes=tuple(map(tuple, modes)))


@given(near_misses(free=False))
def test_a_fixed_stride_off_by_one_is_refused(layout):
    assert isinstance(match(layout), Mismatch)


@given(near_misses(free=True))
def test_a_free_stride_off_by_one_is_no_multiple_of_16_bytes(layout):
    mismatch = match(layout)
    assert isinstance(mismatch, Mismatch)
    assert "a descriptor holds multiples of 16 up to 262128" in mismatch.reason


NEAR_MISSES = [
    # K-major.
    (
        "(64,16):(64,1)",
        "along m/n, the stride of factor 8 is 64 elements where 1T = 8 is needed; K-major, "
        "swizzle none, is Swizzle<0,4,3> o ((8,m),(T,2k)):((1T,SBO),(1,LBO))",
    ),
    (
        "Swizzle<3,4,3> o (64,16):(72,1)",
        "along m/n, the stride of factor 8 is 72 elements where 8T = 64 is needed; K-major, "
        "swizzle 128B, is Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))",
    ),
    (
        "Swizzle<2,4,3> o (64,16):(64,1)",
        "along m/n, the stride of factor 8 is 64 elements where 4T = 32 is needed",
    ),
    (
        "Swizzle<3,4,3> o ((8,8),(8,2)):((64,512),(1,16))",
        "along k, the stride of factor 2k is 16 elements where T = 8 is needed",
    ),
    (
        "((8,8),(8,2)):((8,64),(512,1))",
        "no dimension is contiguous: the innermost strides are 8 along m/n and 512 along k, "
        "and one of them must be 1",
    ),
    (
        "((8,8),(4,4)):((8,64),(1,512))",
        "along k, 4 elements have the stride 1, but the pattern needs 8 in a row",
    ),
    (
        "Swizzle<3,4,3> o ((4,16),16):((64,264),1)",
        "along m/n, 4 elements have the stride 64, but the pattern needs 8 in a row",
    ),
    (
        "Swizzle<3,4,3> o ((8,2,4),16):((64,640,2048),1)",
        "along m/n, the repeats of the pattern have no single stride: 640 elements, then 2048 "
        "after 2 of them",
    ),
    (
        "((8,8),(8,2)):((8,64),(1,1020))",
        "LBO would be 2040 bytes; a descriptor holds multiples of 16 up to 262128",
    ),
    (
        "Swizzle<3,4,3> o ((8,8),16):((64,516),1)",
        "SBO would be 1032 bytes; a descriptor holds multiples of 16 up to 262128",
    ),
    (
        "((8,8),(8,2)):((8,64),(1,131072))",
        "LBO would be 262144 bytes; a descriptor holds multiples of 16 up to 262128",
    ),
    (
        "Swizzle<3,4,3> o ((8,8),16):((64,131072),1)",
        "SBO would be 262144 bytes; a descriptor holds multiples of 16 up to 262128",
    ),
    # MN-major.
    (
        "(64,16):(1,64)",
        "along k, the stride of factor 8 is 64 elements where 1T = 8 is needed; MN-major, "
        "swizzle none, is Swizzle<0,4,3> o ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))",
    ),
    (
        "Swizzle<3,4,3> o (64,16):(1,72)",
        "along k, the stride of factor 8 is 72 elements where 8T = 64 is needed",
    ),
    (
        "Swizzle<3,4,3> o ((8,8),16):((1,16),64)",
        "along m/n, the stride of factor 8 is 16 elements where T = 8 is needed",
    ),
    (
        "Swizzle<3,4,3> o ((32,2),16):((1,512),64)",
        "along m/n, 4 elements have the stride 8, but the pattern needs 8 in a row",
    ),
    (
        "((8,2,2),16):((1,64,256),8)",
        "along m/n, the repeats of the pattern have no single stride: 64 elements, then 256 "
        "after 2 of them",
    ),
    (
        "Swizzle<3,4,3> o ((64,2),16):((1,131072),64)",
        "LBO would be 262144 bytes; a descriptor holds multiples of 16 up to 262128",
    ),
]


@pytest.mark.parametrize("text, reason", NEAR_MISSES, ids=[text for text, _ in NEAR_MISSES])
def test_reasons(text, reason):
    mismatch = match(parse_layout(text, element("bf16")))
    assert isinstance(mismatch, Mismatch)
    assert reason in mismatch.reason


def test_the_largest_strides_are_taken():
    layout = parse_layout("((8,8),(8,2)):((8,131064),(1,131064))", element("bf16"))
    assert match(layout) == Canonical(FORMS[Major.K, Swizzle.NONE], 262128, 262128)


def test_a_stride_of_b1_that_is_no_whole_number_of_bytes_is_not_rounded_in_the_reason():
    layout = parse_layout("Swizzle<3,4,3> o ((8,2),256):((1024,8196),1)", element("b1"))
    assert "SBO would be 1024 bytes" not in match(layout).reason


MISFITS = [
    ("(64,16):(64,1)", ("the stride of factor 8 along m/n", 64, 8)),
    (
        "Swizzle<3,4,3> o ((8,8),(8,2)):((64,512),(1,16))",
        ("the stride of factor 2k along k", 16, 8),
    ),
    ("((8,8),(4,4)):((8,64),(1,512))", ("the extent of factor T along k", 4, 8)),
    (
        "Swizzle<3,4,3> o ((8,2,4),16):((64,640,2048),1)",
        ("the stride of repeat 2 along m/n", 2048, 1280),
    ),
    ("((8,8),(8,2)):((8,64),(1,1020))", (None, None, None)),
]


@pytest.mark.parametrize(
    "text, expected", MISFITS, ids=[f"{text}-found{i}" for i, (text, _) in enumerate(MISFITS)]
)
def test_the_mode_that_does_not_fit(text, expected):
    mismatch = match(parse_layout(text, element("bf16")))
    assert (mismatch.mode, mismatch.actual, mismatch.expected) == expected
