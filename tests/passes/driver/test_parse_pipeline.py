"""Pass managers from text, and their text: `str` of a manager gives an equal manager."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import module

import mlir_smem
from mlir_smem.bindings import PACKAGE, ir, passmanager
from mlir_smem.dialect import new_context
from mlir_smem.layout import Swizzle
from mlir_smem.layout.arch import Arch
from mlir_smem.passes import OptionError, Pass, pass_named, passes
from mlir_smem.passes.driver.textual import unwrap
from mlir_smem.passes.smem_to_nvvm import SmemToNvvm


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def text_of(text, pm=None):
    return str(mlir_smem.parse_pipeline(text, pm))


def lower(pm):
    parsed = ir.Module.parse(module())
    pm.run(parsed.operation)
    return str(parsed)


ROUND_TRIPS = [
    "builtin.module()",
    "builtin.module(smem-to-nvvm)",
    "builtin.module(cse,smem-to-nvvm{arch=sm_100 max-swizzle=64 explain=true},gpu.module(cse))",
    "builtin.module(smem-assign-layouts{max-swizzle=0},smem-allocate{max-bytes=1024},smem-check-async)",
    "gpu.module(smem-to-nvvm,cse)",
    "gpu.module(gpu.func(cse))",
    "func.func(cse)",
    "any(cse,smem-to-nvvm,builtin.module(cse))",
]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_the_text_of_a_manager_round_trips(text):
    assert text_of(text) == text
    assert text_of(str(mlir_smem.parse_pipeline(text))) == text


def test_options_of_upstream_passes_round_trip():
    once = text_of("builtin.module(gpu.module(canonicalize{max-iterations=3}),smem-to-nvvm)")
    assert "max-iterations=3" in once
    assert text_of(once) == once


def value_of(field):
    if field.metadata["choices"]:
        return st.sampled_from(field.metadata["choices"])
    if isinstance(field.default, bool):
        return st.booleans()
    if isinstance(field.default, Swizzle):
        # Text names swizzles by their width.
        return st.sampled_from([Swizzle.of_width(width) for width in (0, 32, 64, 128)])
    if isinstance(field.default, Arch):
        return st.sampled_from(list(Arch))
    if isinstance(field.default, str):
        return st.text("abc+_", min_size=1)
    return st.integers(0, 1 << 20)


@st.composite
def drawn_passes(draw):
    kind = draw(st.sampled_from(list(passes().values())))
    return kind(**{f.name: draw(value_of(f)) for f in fields(kind)})


@settings(max_examples=60, deadline=None)
@given(st.lists(drawn_passes(), max_size=4))
def test_passes_with_any_options_round_trip(drawn):
    text = f"builtin.module({','.join(map(str, drawn))})"
    with new_context():
        assert text_of(text) == text


def test_added_passes_are_in_the_text():
    pm = passmanager.PassManager("builtin.module")
    mlir_smem.add_passes(pm, "smem-to-nvvm", arch="sm_100", explain=True)
    assert str(pm) == "builtin.module(smem-to-nvvm{arch=sm_100 explain=true})"


def test_a_suffix_of_the_architecture_is_accepted():
    assert text_of("smem-to-nvvm{arch=sm_100a}") == "builtin.module(smem-to-nvvm{arch=sm_100})"


def test_a_manager_of_the_caller_gets_the_passes():
    pm = passmanager.PassManager("builtin.module")
    pm.add("cse")
    assert mlir_smem.parse_pipeline("builtin.module(smem-to-nvvm)", pm) is pm
    assert str(pm) == "builtin.module(cse,smem-to-nvvm)"


@pytest.mark.parametrize("text", ["smem-to-nvvm", "gpu.module(smem-to-nvvm)"])
def test_a_manager_of_gpu_modules(text):
    pm = passmanager.PassManager("gpu.module")
    assert text_of(text, pm) == "gpu.module(smem-to-nvvm)"
    parsed = ir.Module.parse(module())
    pm.run(parsed.body.operations[0].operation)
    assert "nvvm.wgmma" in str(parsed)


def test_a_pipeline_for_another_op_than_the_managers():
    pm = passmanager.PassManager("gpu.module")
    text = "builtin.module(smem-to-nvvm)"
    with pytest.raises(OptionError) as raised:
        mlir_smem.parse_pipeline(text, pm)
    assert str(raised.value) == (
        f"pipeline '{text}': runs on builtin.module, but pm runs on gpu.module"
    )


@pytest.mark.parametrize("text", ["func.func(smem-to-nvvm)", "func.func(smem-to-nvvm),cse"])
def test_passes_of_smem_run_on_modules(text):
    with pytest.raises(OptionError) as raised:
        mlir_smem.parse_pipeline(text)
    assert str(raised.value) == (
        "smem-to-nvvm runs on builtin.module, not on func.func; put it directly into builtin.module(...)"
    )


def test_without_a_context():
    # The current context is that of a thread.
    with ThreadPoolExecutor() as pool, pytest.raises(ValueError) as raised:
        pool.submit(mlir_smem.parse_pipeline, "cse").result()
    assert str(raised.value) == (
        f"mlir_smem.parse_pipeline: no MLIR context of {PACKAGE} is current; enter one by "
        "`with context:`, or give pm"
    )


def test_a_function_without_a_name_cannot_be_parsed():
    pm = passmanager.PassManager("builtin.module")
    pm.add(lambda op, external: None)
    with pytest.raises(OptionError) as raised:
        mlir_smem.parse_pipeline(str(pm))
    assert str(raised.value) == (
        "pipeline 'builtin.module(unknown<<lambda>>)': <lambda> is a Python function, which text cannot "
        "name"
    )


ANCHORED = [
    ("cse", (None, "cse")),
    ("a,b", (None, "a,b")),
    ("a(b),c", (None, "a(b),c")),
    ("a(b)", ("a", "b")),
    (" a ( b , c(d) ) ", ("a", "b , c(d)")),
    ("a()", ("a", "")),
    ("a(b)(c)", (None, "a(b)(c)")),
    ("a{x=(1)}", (None, "a{x=(1)}")),
]


@pytest.mark.parametrize(
    "text, expected", ANCHORED, ids=[f"{text}-found{i}" for i, (text, _) in enumerate(ANCHORED)]
)
def test_the_anchor_of_a_whole_pipeline(text, expected):
    assert unwrap(text) == expected


# Passes as objects.


def test_a_manager_takes_a_pass_by_its_object():
    pm = passmanager.PassManager("builtin.module")
    pm.add(SmemToNvvm(max_swizzle=Swizzle.B32))
    named = mlir_smem.parse_pipeline("smem-to-nvvm{max-swizzle=32}")
    assert lower(pm) == lower(named)
    assert str(mlir_smem.parse_pipeline(str(pm))) == str(named)


def test_a_pass_object_fails_the_manager_at_the_location():
    pm = passmanager.PassManager("builtin.module")
    pm.add(pass_named("smem-lower-mma")())
    with pytest.raises(ir.MLIRError, match="run smem-materialize-descriptors before"):
        lower(pm)


class Named(Pass):
    name = "named"
    description = "does nothing"

    def run(self, module):
        pass


def test_a_pass_of_another_package_has_its_name():
    pm = passmanager.PassManager("builtin.module")
    pm.add(Named())
    assert str(pm) == "builtin.module(unknown<named>)"


def test_a_manager_of_another_package_is_told_what_to_call():
    foreign = {"__module__": "jaxlib.mlir._mlir_libs._mlir.ir"}
    with pytest.raises(TypeError) as raised:
        SmemToNvvm()(type("Module", (), foreign)(), None)
    assert str(raised.value) == (
        "smem-to-nvvm was added to a PassManager of the bindings package jaxlib.mlir, but mlir_smem uses "
        f"{PACKAGE}; exchange whole modules by mlir_smem.interop.lower, because jaxlib.mlir cannot hold "
        "a dialect that is defined in Python"
    )


@pytest.mark.parametrize("package", ["jaxlib.mlir", "iree.compiler"])
def test_a_real_manager_of_another_package(package):
    other = pytest.importorskip(f"{package}.passmanager", reason=f"{package} is not installed")
    foreign_ir = pytest.importorskip(f"{package}.ir")
    with foreign_ir.Context():
        pm = other.PassManager("builtin.module")
        pm.add(SmemToNvvm())
        parsed = foreign_ir.Module.parse("module {}")
        with pytest.raises(TypeError, match=f"{package}, but mlir_smem uses {PACKAGE}; exchange"):
            pm.run(parsed.operation)
