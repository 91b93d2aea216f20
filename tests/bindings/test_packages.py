"""Objects of another bindings package: messages name both packages, and what to do."""

import sys
from importlib import import_module

import pytest

import mlir_smem
from mlir_smem.bindings import PACKAGE
from mlir_smem.bindings.packages import can_hold_dialect, is_foreign, package_of, remedy
from mlir_smem.dialect import new_context, ops
from mlir_smem.passes import add_pass, pass_named

#: Packages whose bindings cannot hold a Python dialect, by what they lack.
OTHERS = ["jaxlib.mlir", "iree.compiler"]


@pytest.fixture(params=OTHERS)
def other(request):
    """Another bindings package that is installed: its name, `ir` and `passmanager`."""
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    modules = (import_module(f"{request.param}.{name}") for name in ("ir", "passmanager"))
    return request.param, *modules


def message_of(call, error=TypeError):
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


def ending(package, class_):
    return (
        f"a {class_} of the bindings package {package}, but mlir_smem uses {PACKAGE}; exchange whole "
        f"modules by mlir_smem.interop.lower, because {package} cannot hold a dialect that is defined "
        "in Python"
    )


def test_functions_name_both_packages(other):
    package, ir, passmanager = other
    context = ir.Context()
    pm = passmanager.PassManager("builtin.module", context)
    calls = [
        ("register: context", "Context", lambda: mlir_smem.register(context)),
        ("add_passes: pm", "PassManager", lambda: mlir_smem.add_passes(pm, "smem-to-nvvm")),
        ("parse_pipeline: pm", "PassManager", lambda: mlir_smem.parse_pipeline("cse", pm)),
        (
            "passes.add_pass: pm",
            "PassManager",
            lambda: add_pass(pm, pass_named("smem-to-nvvm")()),
        ),
        ("compile: module", "Context", lambda: mlir_smem.compile(context)),
    ]
    for start, class_, call in calls:
        assert message_of(call) == f"mlir_smem.{start} is {ending(package, class_)}"


def test_builders_name_both_packages(other):
    package, ir, _ = other
    with ir.Context(), ir.Location.unknown():
        type_ = ir.F32Type.get()
        module = ir.Module.parse("module {}")
        with ir.InsertionPoint(module.body):
            value = ir.Operation.create("builtin.unrealized_conversion_cast", results=[type_])
            message = message_of(ops.fence, ValueError)
    assert message.startswith(
        f"smem.fence: the current context is of the bindings package {package}, but mlir_smem uses "
        f"{PACKAGE}; exchange whole modules"
    )
    with new_context():
        with pytest.raises(ValueError, match="no insertion point"):
            ops.fence()
        our = import_module(f"{PACKAGE}.ir")
        with our.InsertionPoint(our.Module.parse("module {}").body):
            message = message_of(lambda: ops.wait(value.result))
    assert message.endswith(ending(package, type(value.result).__name__))


def test_a_package_that_can_hold_the_dialect_is_named_for_the_environment(tmp_path, monkeypatch):
    for name in ("__init__", "ir", "dialects/__init__", "dialects/ext", "dialects/irdl"):
        file = tmp_path / "host_bindings" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert can_hold_dialect("host_bindings")
    context = type("Context", (), {"__module__": "host_bindings._mlir_libs._mlir.ir"})()
    assert message_of(lambda: mlir_smem.register(context)) == (
        "mlir_smem.register: context is a Context of the bindings package host_bindings, but mlir_smem "
        f"uses {PACKAGE}; set MLIR_SMEM_BINDINGS=host_bindings before mlir_smem is imported"
    )


def test_a_package_that_is_not_installed_cannot_hold_the_dialect():
    assert not can_hold_dialect("nowhere.mlir")
    assert remedy("nowhere.mlir").startswith("exchange whole modules")


def test_our_package_can_hold_the_dialect():
    assert can_hold_dialect(PACKAGE)
    with new_context() as context:
        assert package_of(context) == PACKAGE
        assert not is_foreign(context)


def test_objects_that_are_not_of_bindings_have_no_package():
    assert package_of(3) is None
    assert not is_foreign("text")


def test_a_current_context_is_found_in_any_loaded_package(monkeypatch):
    class Context:
        current = object()

    module = type(sys)("stub._mlir_libs._mlir.ir")
    module.Context = Context
    monkeypatch.setitem(sys.modules, "stub._mlir_libs._mlir.ir", module)
    message = message_of(ops.fence, ValueError)
    assert f"of the bindings package stub, but mlir_smem uses {PACKAGE}" in message
