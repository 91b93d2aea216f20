"""Registration in any number of contexts, whatever the host has done with them."""

import gc
import subprocess
import sys

import pytest
from programs import module, tile

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.dialect import dialects, new_context, ops, register, registration
from mlir_smem.dialect.registration import shared_context
from mlir_smem.dialect.smem import Smem

ALLOC = f'%0 = "smem.alloc"() : () -> {tile(8, 8)}'


def test_registering_again_has_no_effect():
    context = ir.Context()
    assert register(register(context)) is context
    assert ir.Module.parse(ALLOC, context).operation.verify()


def test_contexts_can_be_interleaved():
    first, second = ir.Context(), ir.Context()
    register(first)
    register(second)
    register(first)
    modules = [ir.Module.parse(ALLOC, context) for context in (first, second, first)]
    third = register(ir.Context())
    assert all(module.operation.verify() for module in modules)
    assert ir.Module.parse(ALLOC, third).operation.verify()


def test_contexts_can_be_nested():
    with new_context() as outer:
        with new_context() as inner:
            assert ir.Module.parse(ALLOC).context is inner
        assert ir.Module.parse(ALLOC).context is outer


def test_the_same_type_differs_between_contexts():
    with new_context():
        first = ir.Type.parse(tile(8, 8))
    with new_context():
        assert ir.Type.parse(tile(8, 8)) != first


def test_a_context_that_the_host_has_entered():
    with ir.Context() as context:
        register(context)
        assert ir.Module.parse(ALLOC).operation.verify()


def test_modules_parsed_before_registration_stay_valid():
    context = ir.Context()
    host = ir.Module.parse("func.func private @f()", context)
    register(context)
    assert "func.func private @f()" in str(host)


def test_an_unregistered_dialect_of_the_host_stays_allowed():
    context = ir.Context()
    context.allow_unregistered_dialects = True
    register(context)
    assert '"host.op"' in str(ir.Module.parse('"host.op"() : () -> ()', context))


def test_registering_turns_multithreading_off():
    context = ir.Context()
    context.enable_multithreading(True)
    register(context)
    assert context.get_num_threads() == 1


def test_registering_again_turns_multithreading_off_again():
    context = register(ir.Context())
    context.enable_multithreading(True)
    register(context)
    assert context.get_num_threads() == 1


def test_compile_works_when_the_host_enables_multithreading():
    # In a separate process: verifiers on several threads would crash it.
    code = f"""
import mlir_smem
from mlir_smem.bindings import ir
context = mlir_smem.register(ir.Context())
module = ir.Module.parse({module()!r}, context)
context.enable_multithreading(True)
for _ in range(20):
    mlir_smem.compile(module, emit="nvvm")
"""
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, timeout=60)
    assert ran.returncode == 0


def test_contexts_are_freed():
    for _ in range(10):
        mlir_smem.compile(module(), emit="nvvm")
    gc.collect()
    before = ir.Context._get_live_count()
    for _ in range(10):
        mlir_smem.compile(module(), emit="nvvm")
    gc.collect()
    assert ir.Context._get_live_count() <= before


def test_dialects_include_smem():
    names = dialects()
    assert {"smem", "builtin", "gpu", "nvvm", "memref"} <= set(names)
    assert names == sorted(set(names))


@pytest.mark.skipif(not hasattr(ir, "loc_tracebacks"), reason="the bindings have no tracebacks")
def test_the_location_of_an_op_begins_at_the_caller_of_its_builder():
    with new_context(), ir.loc_tracebacks():
        built = ir.Module.create()
        with ir.InsertionPoint(built.body):
            ops.fence()
            ops.alloc((8, 8), ir.F32Type.get())
        for op in built.body.operations:
            function = "test_the_location_of_an_op_begins_at_the_caller_of_its_builder"
            assert str(op.location).startswith(f'loc(callsite("{function}"("{__file__}":')


def test_a_context_that_may_hold_unregistered_ops_is_refused():
    context = ir.Context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse('"smem.fence"() : () -> ()', context)
    with pytest.raises(ValueError) as error:
        mlir_smem.register(context)
    assert str(error.value) == (
        "mlir_smem.register: the context allows unregistered dialects and has 1 module, which may hold "
        "ops of smem; register it before it has any, or lower them by mlir_smem.interop.lower"
    )
    lowered = mlir_smem.interop.lower(module, "builtin.module(smem-lower-copies)")
    assert "smem." not in str(lowered)


def test_a_context_with_modules_of_registered_dialects_is_taken():
    context = ir.Context()
    module = ir.Module.parse("func.func private @f()", context)
    mlir_smem.register(context)
    assert "func.func" in str(module)


def test_a_shared_context_is_used_again():
    with shared_context() as first, shared_context() as nested:
        assert nested is not first
    with shared_context() as second:
        assert second in (first, nested)


def test_a_shared_context_is_left_behind_after_an_error():
    with shared_context() as context:
        pass
    with pytest.raises(ValueError, match="an error"), shared_context() as failed:
        raise ValueError("an error")
    with shared_context() as after:
        assert failed is context and after is not context


def test_a_shared_context_has_ops_that_are_defined_later(monkeypatch):
    with shared_context() as before:
        pass
    monkeypatch.setattr(Smem, "operations", [*Smem.operations[:-1]])
    monkeypatch.setattr(Smem, "_emitted", (0, b""))
    with shared_context() as after:
        assert after is not before


def test_a_shared_context_is_renewed(monkeypatch):
    monkeypatch.setattr(registration, "_USES", 2)
    contexts = set()
    for _ in range(6):
        with shared_context() as context:
            contexts.add(context)
    assert len(contexts) >= 3
