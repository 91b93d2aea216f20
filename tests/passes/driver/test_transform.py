"""The transform op that applies passes, in any number of contexts, and bindings that cannot define it."""

import subprocess
import sys

import pytest
from programs import module

from mlir_smem.bindings import PACKAGE, ir
from mlir_smem.dialect import new_context
from mlir_smem.passes import register_transform
from mlir_smem.passes.driver import transform
from mlir_smem.tools.smem_opt import smem_opt

interpreter = pytest.importorskip(f"{PACKAGE}.dialects.transform.interpreter")

SCRIPT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %l = "smem_transform.apply_registered_pass"(%root) {pass_name = "smem-to-nvvm"}
      : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def apply_script():
    """Return a module after the script, in the current context."""
    payload, script = ir.Module.parse(module()), ir.Module.parse(SCRIPT)
    interpreter.apply_named_sequence(payload, script.body.operations[0], script)
    return str(payload)


def test_a_script_for_another_module_runs_in_any_number_of_contexts():
    texts = set()
    for _ in range(2):
        with new_context() as context:
            assert register_transform(context) is context
            register_transform(context)
            texts.add(apply_script())
    assert len(texts) == 1
    assert "nvvm.wgmma" in texts.pop()


def test_a_context_without_the_dialect_gets_it():
    with register_transform(ir.Context()), ir.Location.unknown():
        assert "nvvm.wgmma" in apply_script()


def test_other_contexts_do_not_load_it():
    code = (
        "import sys; from mlir_smem.dialect import new_context; import mlir_smem.passes\n"
        "with new_context() as context:\n"
        "    loaded = getattr(context, 'is_dialect_loaded', lambda name: False)  # from LLVM 24 on\n"
        "    print(loaded('transform'))\n"
        f"print('{PACKAGE}.dialects.transform' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    "owner, interface",
    [(transform.transform, "TransformOpInterface"), (ir, "MemoryEffectsOpInterface")],
)
def test_bindings_that_cannot_define_it(monkeypatch, tmp_path, capsys, owner, interface):
    monkeypatch.delattr(owner, interface)
    message = (
        f"the bindings package {PACKAGE} has no {interface}, so a transform script cannot apply passes "
        "of smem; use a pipeline"
    )
    with new_context() as context, pytest.raises(NotImplementedError) as raised:
        register_transform(context)
    assert str(raised.value) == message
    script = tmp_path / "script.mlir"
    script.write_text(SCRIPT)
    assert smem_opt([str(script)]) == 1
    assert capsys.readouterr() == ("", f"smem-opt: error: {message}\n")
