"""`lower_text`: text or bytecode in, text or bytecode out."""

import io

import pytest
from programs import COMPLAINT, WRONG, kernel, module, tile

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.interop import lower_text
from mlir_smem.interop.host_version import bindings_version
from mlir_smem.passes import OptionError


def lower_by_pass_manager(text):
    """Return the lowered module as the pass manager gives it."""
    with new_context():
        parsed = ir.Module.parse(text)
        mlir_smem.parse_pipeline("smem-to-nvvm").run(parsed.operation)
        return str(parsed)


def parse_and_print(text):
    with new_context() as context:
        context.allow_unregistered_dialects = True
        return str(parse_module(text))


def bytecode_of(text):
    with new_context():
        written = io.BytesIO()
        ir.Module.parse(text).operation.write_bytecode(written)
        return written.getvalue()


def test_it_is_a_function_of_the_package():
    assert mlir_smem.lower_text is lower_text


@pytest.mark.parametrize(
    "text",
    [module(), module().encode(), bytecode_of(module())],
    ids=["given0", "given1", "given2"],
)
def test_text_and_bytecode_are_lowered(text):
    assert parse_and_print(lower_text(text)) == lower_by_pass_manager(module())


def test_bytecode_is_compiled():
    expected = mlir_smem.compile(module(), emit="ptx").ptx
    assert mlir_smem.compile(bytecode_of(module()), emit="ptx").ptx == expected
    assert mlir_smem.compile(module().encode(), emit="ptx").ptx == expected


def test_the_result_is_generic_with_locations():
    text = lower_text(module())
    assert '"gpu.module"()' in text
    assert "loc(" in text
    assert "gpu.module @" in lower_text(module(), generic=False)


def test_the_result_as_bytecode():
    data = lower_text(module(), bytecode=True)
    assert data.startswith(b"ML\xefR")
    assert parse_and_print(data) == lower_by_pass_manager(module())


def test_a_pipeline_can_be_given():
    assert "Swizzle<3,4,3>" in lower_text(module(), "builtin.module(smem-assign-layouts)")


def test_ops_of_other_dialects_pass_through():
    text = 'module { "host.op"() <{a = 1 : i32}> {b = 2 : i32} : () -> () }'
    assert '"host.op"() <{a = 1 : i32}> {b = 2 : i32} : () -> ()' in lower_text(text)


def test_an_error_is_at_its_line_of_the_text():
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)}'))
    line = next(n for n, text_line in enumerate(text.splitlines(), 1) if "smem.alloc" in text_line)
    with pytest.raises(ir.MLIRError, match=rf'"-":{line}:\d+: \'smem.alloc\' op has no layout'):
        lower_text(text)


def test_an_error_has_the_location_of_the_host():
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":7:3)'))
    for source in (text, bytecode_of(text)):
        with pytest.raises(ir.MLIRError, match=r"host\.py\":7:3: 'smem\.alloc' op has no layout"):
            lower_text(source)


def test_a_wrong_op_is_refused():
    with pytest.raises(ir.MLIRError, match=COMPLAINT):
        lower_text(WRONG)


@pytest.mark.parametrize(
    "text, message",
    [
        (b"\xff\xfe", "neither bytecode nor text in UTF-8: invalid start byte at byte 0"),
        (b"ML\xefR", "error: "),
        (bytecode_of(module())[:100], "error: "),
        ("module {", "error: "),
        pytest.param("(" * 300, "brackets nest", id="given4-brackets nest"),
    ],
)
def test_what_cannot_be_read(text, message):
    with pytest.raises(ir.MLIRError, match=message):
        lower_text(text)


def test_damaged_bytecode_is_refused():
    # The bytes of a name are not UTF-8, so the message of the reader is not, either.
    data = bytecode_of('"smem.fence"() : () -> ()').replace(b"fence", b"\xff\xfe\xff\xfe\xff")
    with pytest.raises(ir.MLIRError):
        lower_text(data)


@pytest.mark.parametrize("text, called", [(None, "None"), (3, "3")])
def test_text_is_text(text, called):
    with pytest.raises(TypeError) as raised:
        lower_text(text)
    assert str(raised.value) == (
        f"mlir_smem.lower_text: text is {called}; expected MLIR text, or bytecode"
    )


@pytest.mark.skipif(bindings_version() < 24, reason="LLVM 23 has no scopes of barriers")
def test_a_version_of_the_host_is_for_generic_text():
    text = lower_text('"gpu.barrier"() : () -> ()', host_llvm=22)
    assert '"gpu.barrier"() : () -> ()' in text
    assert "barrier_scope" in lower_text('"gpu.barrier"() : () -> ()')
    for options in ({"bytecode": True}, {"generic": False}):
        with pytest.raises(ValueError, match="host_llvm is 22; expected with text in the generic"):
            lower_text("module {}", host_llvm=22, **options)
    with pytest.raises(ValueError, match="host_llvm is 22"):
        lower_text(b"module {}", host_llvm=22)
    with pytest.raises(ValueError, match="LLVM 3 is too old"):
        lower_text("module {}", host_llvm=3)


def test_a_wrong_pipeline_is_refused():
    with pytest.raises(OptionError, match="smem-to-nvvm has no option 'speed'"):
        lower_text("module {}", "smem-to-nvvm{speed=1}")
