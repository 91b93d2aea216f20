"""Messages for wrong arguments of `register`, `add_passes`, `parse_pipeline` and `compile`."""

from importlib import import_module
from pathlib import PurePosixPath

import pytest
from programs import module

import mlir_smem
from mlir_smem.bindings import PACKAGE, ir, passmanager
from mlir_smem.dialect import new_context
from mlir_smem.passes import OptionError, add_pass, pass_named


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def foreign(name, module="ir"):
    """Return an object of a class of JAX's bindings."""
    return type(name, (), {"__module__": f"jaxlib.mlir._mlir_libs._mlir.{module}"})()


def message_of(call, error=TypeError):
    with pytest.raises(error) as raised:
        call()
    assert type(raised.value) is error
    return str(raised.value)


#: Values that no function accepts, and their text in messages.
WRONG = [
    (None, "None"),
    (3, "3"),
    (b"module {}", "b'module {}'"),
    (PurePosixPath("a.mlir"), "PurePosixPath('a.mlir')"),
    (object(), "an object"),
]
OTHER = (
    f"of the bindings package jaxlib.mlir, but mlir_smem uses {PACKAGE}; exchange whole modules by "
    "mlir_smem.interop.lower, because jaxlib.mlir cannot hold a dialect that is defined in Python"
)

wrong = pytest.mark.parametrize("argument, called", WRONG, ids=[called for _, called in WRONG])


@wrong
def test_register_takes_contexts(argument, called):
    message = message_of(lambda: mlir_smem.register(argument))
    assert message == f"mlir_smem.register: context is {called}; expected an MLIR context"


@wrong
def test_pass_managers_are_those_of_the_bindings(argument, called):
    message = message_of(lambda: mlir_smem.add_passes(argument, "smem-to-nvvm"))
    assert message == f"mlir_smem.add_passes: pm is {called}; expected a PassManager"
    if argument is not None:
        message = message_of(lambda: mlir_smem.parse_pipeline("canonicalize", argument))
        assert message == f"mlir_smem.parse_pipeline: pm is {called}; expected a PassManager"


@wrong
def test_names_and_pipelines_are_text(argument, called):
    pm = passmanager.PassManager("builtin.module")
    message = message_of(lambda: mlir_smem.add_passes(pm, argument))
    assert message == f"mlir_smem.add_passes: name is {called}; expected text"
    message = message_of(lambda: mlir_smem.parse_pipeline(argument))
    assert message == f"mlir_smem.parse_pipeline: text is {called}; expected text"


@wrong
def test_passes_are_ours(argument, called):
    pm = passmanager.PassManager("builtin.module")
    message = message_of(lambda: add_pass(pm, argument))
    assert (
        message
        == f"mlir_smem.passes.add_pass: pass_ is {called}; expected an mlir_smem.passes.Pass"
    )


@wrong
def test_compile_takes_modules_and_text(argument, called):
    # Bytes are text or bytecode.
    if not isinstance(argument, bytes):
        message = message_of(lambda: mlir_smem.compile(argument))
        expected = "an ir.Module, MLIR text or bytecode"
        assert message == f"mlir_smem.compile: module is {called}; expected {expected}"
    message = message_of(lambda: mlir_smem.compile(module(), arch=argument))
    assert message == f"mlir_smem.compile: arch is {called}; expected text"
    message = message_of(lambda: mlir_smem.compile(module(), emit=argument))
    assert message == f"mlir_smem.compile: emit is {called}; expected text"


def test_objects_of_other_bindings_are_named():
    message = message_of(lambda: mlir_smem.register(foreign("Context")))
    assert message == f"mlir_smem.register: context is a Context {OTHER}"
    message = message_of(lambda: mlir_smem.compile(foreign("Module")))
    assert message == f"mlir_smem.compile: module is a Module {OTHER}"
    pm = foreign("PassManager", "passmanager")
    message = message_of(lambda: mlir_smem.add_passes(pm, "smem-to-nvvm"))
    assert message == f"mlir_smem.add_passes: pm is a PassManager {OTHER}"
    message = message_of(lambda: mlir_smem.parse_pipeline("cse", pm))
    assert message == f"mlir_smem.parse_pipeline: pm is a PassManager {OTHER}"
    message = message_of(lambda: add_pass(pm, pass_named("smem-to-nvvm")()))
    assert message == f"mlir_smem.passes.add_pass: pm is a PassManager {OTHER}"


def test_contexts_made_in_cpp_are_contexts():
    # Their class is the one that the bindings define, the base class of `ir.Context`.
    context = ir.Context.__mro__[-2]()
    context.append_dialect_registry(import_module(f"{PACKAGE}._mlir_libs").get_dialect_registry())
    context.load_all_available_dialects()
    assert mlir_smem.register(context) is context


@pytest.mark.parametrize("anchor", ["func.func", "gpu.func"])
def test_pass_managers_of_other_ops_are_refused(anchor):
    pm = passmanager.PassManager(anchor)
    calls = {
        "add_passes": lambda: mlir_smem.add_passes(pm, "smem-to-nvvm"),
        "parse_pipeline": lambda: mlir_smem.parse_pipeline("canonicalize", pm),
    }
    for function, call in calls.items():
        assert message_of(call, OptionError) == (
            f"mlir_smem.{function}: pm runs on {anchor}; expected a PassManager of builtin.module"
        )
    assert str(pm) == f"{anchor}()"


def test_a_pass_manager_of_any_op_runs_on_modules():
    parsed = ir.Module.parse(module())
    pm = mlir_smem.add_passes(passmanager.PassManager(), "smem-to-nvvm")
    pm.run(parsed.operation)
    assert "nvvm.wgmma" in str(parsed)


def test_a_pass_manager_of_any_op_fails_on_other_ops():
    pm = mlir_smem.add_passes(passmanager.PassManager(), "smem-allocate")
    function = ir.Module.parse("func.func private @f()").body.operations[0]
    with pytest.raises(ir.MLIRError) as raised:
        pm.run(function.operation)
    message = "'func.func' op is not what smem-allocate runs on; expected builtin.module"
    assert message in str(raised.value)


def test_values_of_options_are_checked():
    message = message_of(lambda: mlir_smem.compile(module(), explain=3), OptionError)
    assert message == "smem-to-nvvm: option explain takes true or false, not 3"
    pm = passmanager.PassManager("builtin.module")
    message = message_of(lambda: mlir_smem.add_passes(pm, "smem-to-nvvm", arch=90), OptionError)
    assert message == "smem-to-nvvm: option arch takes sm_90, sm_100, sm_103, not 90"


def test_the_op_of_a_module_can_be_compiled():
    parsed = ir.Module.parse(module())
    assert mlir_smem.compile(parsed.operation, emit="ptx").ptx
