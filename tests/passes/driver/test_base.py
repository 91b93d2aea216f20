"""Options of passes: dataclass fields, and their text in a pipeline."""

from dataclasses import FrozenInstanceError, dataclass, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.layout import Swizzle
from mlir_smem.layout.arch import Arch
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.passes import OptionError, Pass, option, pass_named, passes

NAMES = list(passes())


@dataclass(frozen=True)
class Host(Pass):
    """A pass of another package, with an option of each type."""

    name = "host-pass"
    description = "for tests"

    flag: bool = option(False, "a flag")
    other_flag: bool = option(True, "a flag that is on")
    count: int = option(7, "a number")
    mode: str = option("fast", "a word")
    width: Swizzle = option(Swizzle.B128, "a swizzle")


def values(option):
    """Draw values of an option: of its choices, else by the type of its default."""
    default, choices = option.default, option.metadata["choices"]
    if choices:
        return st.sampled_from(choices)
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, Swizzle):
        return st.sampled_from(WIDEST_FIRST)
    if isinstance(default, Arch):
        return st.sampled_from(list(Arch))
    if isinstance(default, int):
        return st.integers(0, 2**40)
    return st.text("abcxyz-_0189", min_size=1)


@st.composite
def any_pass(draw):
    """Draw a pass with any options."""
    pass_ = draw(st.sampled_from([*passes().values(), Host]))
    return pass_(**{f.name: draw(values(f)) for f in fields(pass_)})


def options_text(pass_):
    """Return the options as a pipeline writes them between braces."""
    return str(pass_).removeprefix(pass_.name).strip("{}")


@given(any_pass())
def test_text_and_value_round_trip(pass_):
    assert type(pass_).from_text(options_text(pass_)) == pass_


@given(any_pass())
def test_options_by_name_round_trip(pass_):
    options = {f.name: getattr(pass_, f.name) for f in fields(pass_)}
    assert type(pass_).from_options(options) == pass_


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_not_written(name):
    assert str(pass_named(name)()) == name


@pytest.mark.parametrize("name", NAMES)
def test_every_pass_and_option_is_described(name):
    pass_ = pass_named(name)
    assert pass_.description
    assert all(field.metadata["description"] for field in pass_.options().values())


@pytest.mark.parametrize("name", NAMES)
def test_passes_are_frozen(name):
    with pytest.raises(FrozenInstanceError):
        pass_named(name)().name = "other"


@pytest.mark.parametrize(
    "text, options",
    [
        ("", {}),
        ("flag", {"flag": True}),
        ("flag=true", {"flag": True}),
        ("flag=1", {"flag": True}),
        ("other-flag=false", {"other_flag": False}),
        ("other-flag=0", {"other_flag": False}),
        ("count=12", {"count": 12}),
        ("mode=slow", {"mode": "slow"}),
        ("mode=a=b", {"mode": "a=b"}),
        ("width=64", {"width": Swizzle.B64}),
        ("width=0", {"width": Swizzle.NONE}),
        ("  count=1   flag\n mode=x ", {"count": 1, "flag": True, "mode": "x"}),
        ("other_flag=false", {"other_flag": False}),
        ("count=1 count=2", {"count": 2}),
    ],
)
def test_text_gives_options(text, options):
    assert Host.from_text(text) == Host(**options)


def test_options_are_written_with_dashes():
    assert str(Host(other_flag=False, count=8)) == "host-pass{other-flag=false count=8}"


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "speed=9",
            "host-pass has no option 'speed'; its options: flag, other-flag, count, mode, width",
        ),
        ("flag=yes", "host-pass: option flag takes true or false, not 'yes'"),
        ("flag=True", "host-pass: option flag takes true or false, not 'True'"),
        ("count=many", "host-pass: option count takes a number from 0, not 'many'"),
        ("count=1.5", "host-pass: option count takes a number from 0, not '1.5'"),
        ("width=48", "host-pass: option width takes 0, 32, 64 or 128, not '48'"),
        ("width=128B", "host-pass: option width takes 0, 32, 64 or 128, not '128B'"),
    ],
)
def test_text_that_is_refused(text, message):
    with pytest.raises(OptionError) as error:
        Host.from_text(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "options, message",
    [
        ({"flag": 1}, "host-pass: option flag takes true or false, not 1"),
        ({"count": True}, "host-pass: option count takes a number from 0, not True"),
        ({"count": None}, "host-pass: option count takes a number from 0, not None"),
        ({"count": -1}, "host-pass: option count takes a number from 0, not -1"),
        ({"mode": 3}, "host-pass: option mode takes text, not 3"),
        ({"mode": object()}, "host-pass: option mode takes text, not an object"),
        ({"width": 48}, "host-pass: option width takes 0, 32, 64 or 128, not 48"),
        ({"width": 64.0}, "host-pass: option width takes 0, 32, 64 or 128, not 64.0"),
        ({"other_flag": []}, "host-pass: option other-flag takes true or false, not []"),
    ],
)
def test_values_that_are_refused(options, message):
    with pytest.raises(OptionError) as error:
        Host.from_options(options)
    assert str(error.value) == message


def test_an_option_of_a_pass_without_options_is_refused():
    with pytest.raises(
        OptionError, match="smem-lower-warp-specialize has no option 'fast'; its options: none"
    ):
        pass_named("smem-lower-warp-specialize").from_text("fast")


def test_a_swizzle_can_be_given_by_its_width():
    assert Host.from_options({"width": 64}) == Host(width=Swizzle.B64)


@pytest.mark.parametrize("text", ["reserved-bytes=-2048", "max-bytes=-1"])
def test_sizes_are_not_negative(text):
    with pytest.raises(OptionError):
        pass_named("smem-allocate").from_text(text)
