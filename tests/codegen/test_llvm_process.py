"""LLVM in a separate process: a crash is an error, and the next module is compiled."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from bindings_at_hand import by_nvptx
from programs import kernel, module

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.codegen import CompileError, back_end, llvm_dialect, llvm_process
from mlir_smem.codegen.llvm_process import LLVMProcess, prepare
from mlir_smem.dialect import new_context

BLOCK = "known_block_size = array<i32: 128, 1, 1>"


def computing(body, name="kernel"):
    return f"""
gpu.func @{name}(%x: memref<4xi32>, %i: i64, %f: f32) kernel attributes {{{BLOCK}}} {{
  {body}
  gpu.return
}}"""


def assembly(text, constraints, operands="%f : (f32) -> ()"):
    return computing(
        f'llvm.inline_asm has_side_effects asm_dialect = att "{text}", "{constraints}" {operands}'
    )


WIDE = """%p = llvm.inttoptr %i : i64 to !llvm.ptr
  %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i1024
  %v = llvm.load %p : !llvm.ptr -> i129
  llvm.store %v, %q : i129, !llvm.ptr"""
LOAD = """%p = llvm.inttoptr %i : i64 to !llvm.ptr
  %v = llvm.load %p atomic seq_cst {alignment = 16 : i64} : !llvm.ptr -> i128
  llvm.store %v, %p : i128, !llvm.ptr"""

#: Crashes of LLVM: the function, its location, and a part of the message.
CRASHES = {
    "an operand that assembly lacks": (
        assembly("mov.b32 $0, $1;", "r"),
        "'llvm.inline_asm' at 3:3",
        "invalid operand in inline asm: 'mov.b32 $0, $1;'",
    ),
    "an unknown constraint": (
        assembly("mov.b32 $0;", "zzz"),
        "'llvm.func' at 2:1",
        "unknown asm constraint 'z'",
    ),
    "a constraint of another target": (
        assembly("mov.b32 $0;", "{eax}"),
        "'llvm.inline_asm' at 3:3",
        "allocate input reg for constraint '{eax}'",
    ),
    "a sign that is no operand": (
        assembly("mov.b32 $", "r"),
        "'llvm.inline_asm' at 3:3",
        "Bad $ operand number in inline asm string: 'mov.b32 $'",
    ),
    "a result that nobody gets": (
        assembly("mov.b32 $0;", "=r", ": () -> ()"),
        "'llvm.func' at 2:1",
        by_nvptx(llvmlite="Assertion", bindings="could not allocate output register"),
    ),
    "another scope": (
        computing('llvm.fence syncscope("foo") seq_cst'),
        "'llvm.func' at 2:1",
        'does not support syncscope "foo"',
    ),
    "another ordering": (computing(LOAD), "'llvm.func' at 2:1", 'support "seq_cst" ordering'),
    "an integer of 129 bits": (
        computing(WIDE),
        "'llvm.func' at 2:1",
        by_nvptx(
            llvmlite="Assertion", bindings="Do not know how to expand this operator's operand"
        ),
    ),
}


def refusal(text, **options):
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text, **{"emit": "ptx", **options})
    return str(error.value)


def process_id():
    """Return the id of the idle process."""
    (process,) = llvm_process._idle
    return process._process.pid


@pytest.mark.parametrize("function, place, words", CRASHES.values(), ids=CRASHES)
def test_a_crash_of_llvm_is_an_error(function, place, words):
    message = refusal(module(function))
    assert message.startswith(f"{place} cannot be compiled; LLVM aborts: ")
    assert words in message
    assert ".entry product" in mlir_smem.compile(module(), emit="ptx").ptx


def test_the_kernel_that_crashes_llvm_among_others():
    functions = kernel(), computing(WIDE, "wide"), kernel(name="last")
    text = module(*functions)
    line = text[: text.index("@wide")].count("\n") + 1
    assert refusal(text).startswith(f"'llvm.func' at {line}:1 cannot be compiled; LLVM aborts: ")


def test_ir_that_llvm_cannot_read_is_reported_at_its_function():
    text = module(computing("").replace("f32", "i0"))
    message = refusal(text)
    assert message.startswith("'llvm.func' at 2:1 cannot be compiled; LLVM ")
    words = by_nvptx(
        llvmlite="bitwidth for integer type out of range",
        bindings="Empty parameter types are not supported",
    )
    assert words in message


def test_a_name_that_the_translation_refuses():
    text = module(computing('%r = llvm.call_intrinsic "llvm.sqrt"(%i) : (i64) -> i64'), kernel())
    for emit in ("llvm", "ptx"):
        message = refusal(text, emit=emit)
        assert message.startswith('loc("-":3:8): call intrinsic signature i64 (i64) to overloaded')
        assert "Translation failed" not in message


def test_a_process_compiles_one_module_after_the_other():
    mlir_smem.compile(module(), emit="ptx")
    first = process_id()
    mlir_smem.compile(module(), emit="ptx")
    assert process_id() == first
    refusal(module(computing(WIDE)))
    mlir_smem.compile(module(), emit="llvm")
    assert process_id() != first


def test_a_process_that_has_ended_is_replaced():
    mlir_smem.compile(module(), emit="ptx")
    ended = process_id()
    os.kill(ended, signal.SIGKILL)
    while llvm_process._idle[0].alive:
        time.sleep(0.01)
    assert mlir_smem.compile(module(), emit="ptx").ptx
    assert process_id() != ended


def test_a_process_that_ends_without_output():
    process = LLVMProcess()
    os.kill(process._process.pid, signal.SIGSEGV)
    with pytest.raises(llvm_process.LLVMDied, match=r"Segmentation fault \(SIGSEGV\)"):
        list(process.answers(None))
    process.end()


ENDLESS = """gpu.module @m {
  gpu.func @kernel(%p: !llvm.ptr) kernel {
    %x = llvm.load %p : !llvm.ptr -> !llvm.metadata
    llvm.store %x, %p : !llvm.metadata, !llvm.ptr
    gpu.return
  }
}"""


def test_an_endless_loop_of_llvm_is_ended(monkeypatch):
    monkeypatch.setattr(llvm_dialect, "check_limits", lambda module: None)
    monkeypatch.setattr(back_end, "MAX_SECONDS", 1)
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(ENDLESS, emit="ptx")
    assert "'llvm.func' at " in str(error.value)
    assert "LLVM aborts: CPU time limit exceeded (SIGXCPU)" in str(error.value)


def test_interrupting_ends_the_process():
    with pytest.raises(KeyboardInterrupt), llvm_process.llvm_process() as process:
        raise KeyboardInterrupt
    assert not process.alive
    assert process not in llvm_process._idle


def test_the_process_ignores_an_interrupt():
    mlir_smem.compile(module(), emit="ptx")
    os.kill(process_id(), signal.SIGINT)
    asked = process_id()
    assert mlir_smem.compile(module(), emit="ptx").ptx
    assert process_id() == asked


def test_threads_that_compile_at_the_same_time():
    expected = mlir_smem.compile(module(), emit="ptx").ptx

    def compile_(_):
        with new_context():
            parsed = ir.Module.parse(module())
        return mlir_smem.compile(parsed, emit="ptx").ptx

    prepare()
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(compile_, range(8))) == {expected}
    assert len(llvm_process._idle) <= 1


@pytest.mark.parametrize("executable", ["", "/nowhere/python"])
def test_no_python_to_run(monkeypatch, executable):
    monkeypatch.setattr(llvm_process, "_idle", [])
    monkeypatch.setattr(sys, "executable", executable)
    message = refusal(module())
    assert message.startswith("no process can be started to run LLVM: ")
    assert mlir_smem.compile(module(), emit="nvvm").nvvm


def run(script, folder, name="script.py"):
    """Run a script without a check for `__main__` in a separate process."""
    (folder / name).write_text(script)
    command = [sys.executable, name]
    return subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name", ["script.py", "queue.py", "pickle.py"])
def test_the_hosts_script_is_not_run_again(tmp_path, name):
    script = f"import mlir_smem\nprint(len(mlir_smem.compile({module()!r}, emit='ptx').ptx))"
    if name != "script.py":
        # The host itself has loaded the module that its script hides.
        script = f"import sys\nsys.path.append(sys.path.pop(0))\n{script}"
    ran = run(script, tmp_path, name)
    assert ran.stderr == ""
    assert ran.stdout.count("\n") == 1


def test_a_forked_process_starts_its_own(tmp_path):
    ran = run(
        f"""
import os, mlir_smem
from mlir_smem.codegen import llvm_process
text = {module()!r}
before = mlir_smem.compile(text, emit="ptx").ptx
child = os.fork()
if child == 0:
    assert not llvm_process._idle
    assert mlir_smem.compile(text, emit="ptx").ptx == before
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert mlir_smem.compile(text, emit="ptx").ptx == before
print("both")
""",
        tmp_path,
    )
    assert (ran.stdout, ran.stderr) == ("both\n", "")


@pytest.mark.parametrize("end", ["sys.exit()", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_the_host(tmp_path, end):
    ran = run(
        f"""
import os, sys, mlir_smem
from mlir_smem.codegen import llvm_process
mlir_smem.compile({module()!r}, emit="ptx")
print(llvm_process._idle[0]._process.pid, flush=True)
{end}
""",
        tmp_path,
    )
    process = int(ran.stdout)
    for _ in range(1000):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail(f"process {process} is still there")
