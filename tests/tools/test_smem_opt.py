"""`smem-opt` as a function: its output and its messages."""

import io
from functools import partial

import pytest
from programs import COMPLAINT, WRONG, kernel, module, tile

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.passes import OptionError
from mlir_smem.tools.inputs import InputError
from mlir_smem.tools.smem_opt import smem_opt

#: A module in two parts: the second is wrong in its fifth line.
TWO = f"{module()}// -----\n{WRONG}"


@pytest.fixture
def run(run_command):
    """Run the command on a text; return (exit code, standard output, standard error)."""
    return partial(run_command, smem_opt)


def parse_and_print(text):
    with new_context():
        return str(ir.Module.parse(text))


# Input and output.


def test_standard_input_to_standard_output(run):
    assert run(text=module()) == (0, parse_and_print(module()), "")


def test_a_dash_is_standard_input(run):
    assert run("-", text=module())[1] == parse_and_print(module())


def test_a_file(run, tmp_path):
    path = tmp_path / "in.mlir"
    path.write_text(module())
    assert run(str(path)) == (0, parse_and_print(module()), "")


def test_an_output_file(run, tmp_path):
    path = tmp_path / "out.mlir"
    assert run("-o", str(path), text=module()) == (0, "", "")
    assert path.read_text() == parse_and_print(module())
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_printed_is_read_again(run):
    _, out, _ = run("--smem-to-nvvm", text=module())
    assert run(text=out) == (0, out, "")


def test_an_empty_input_is_an_empty_module(run):
    assert run(text="") == (0, "module {\n}\n", "")


def test_nothing_is_printed_after_an_error(run):
    code, out, err = run(text=WRONG)
    assert (code, out) == (1, "")
    assert COMPLAINT in err


# Passes.


def test_passes_by_flags_run_in_their_order(run):
    flags = ("--smem-assign-layouts", "--smem-allocate")
    by_pipeline = run(
        "--pass-pipeline=builtin.module(smem-assign-layouts,smem-allocate)", text=module()
    )
    assert run(*flags, text=module()) == by_pipeline
    code, _, err = run(*reversed(flags), text=module())
    assert code == 1
    assert "run smem-assign-layouts before" in err


def test_a_flag_takes_options(run):
    narrow = run("--smem-assign-layouts=max-swizzle=32", text=module())[1]
    assert "Swizzle<1,4,3>" in narrow
    assert "Swizzle<3,4,3>" not in narrow


def test_our_passes_and_upstreams_mix(run):
    mixed = run("--smem-to-nvvm", "--canonicalize", "--cse", text=module())
    pipeline = run("--pass-pipeline=smem-to-nvvm,canonicalize,cse", text=module())
    assert mixed == pipeline
    assert mixed[0] == 0


def test_remarks_go_to_standard_error_with_their_position(run):
    code, out, err = run("--smem-to-nvvm=explain=true", text=module())
    assert code == 0
    assert "was chosen" not in out
    line = next(i for i, text in enumerate(module().splitlines(), 1) if "%a =" in text)
    assert f"<stdin>:{line}:" in err
    assert "remark: layout Swizzle<3,4,3> o (64,64):(64,1) was chosen" in err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--smem-nothing"], "no pass is named 'smem-nothing'; --list-passes shows those of smem"),
        (
            ["--smem-allocate=speed=1"],
            "smem-allocate has no option 'speed'; its options: max-bytes",
        ),
        (["--smem-allocate=max-bytes=x"], "option max-bytes takes a number from 0, not 'x'"),
        (["--pass-pipeline=a,,b"], "pipeline 'a,,b': a pass has no name"),
        (["--pass-pipeline=builtin.module(cse"], "'(' is not closed"),
        (["--pass-pipeline=gpu.module(smem-to-nvvm)"], "put it directly into builtin.module(...)"),
        (["--pass-pipeline=cse", "--canonicalize"], "--pass-pipeline and --canonicalize cannot be"),
        (["a.mlir", "b.mlir"], "unexpected argument 'b.mlir'"),
        (["-x"], "unexpected argument '-x'"),
        (
            ["--cse", "--mlir-print-ir-after=canonicalize"],
            "cannot print the IR around 'canonicalize'",
        ),
        (["nowhere.mlir"], "nowhere.mlir: No such file or directory"),
        (["."], ".: Is a directory"),
        (["-o"], "expected one argument"),
    ],
)
def test_misuse_is_one_message(run, arguments, message):
    code, out, err = run(*arguments, text=module())
    assert (code, out) == (1, "")
    assert err.startswith("smem-opt: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_binary_file(run, tmp_path):
    path = tmp_path / "in.mlir"
    path.write_bytes(b"module {}\xff")
    assert run(str(path)) == (
        1,
        "",
        f"smem-opt: error: {path}: is not text (invalid start byte at byte 9)\n",
    )


# Diagnostics.


def test_an_error_shows_its_line(run, tmp_path):
    path = tmp_path / "in.mlir"
    path.write_text(WRONG)
    _, _, err = run(str(path))
    number = next(i for i, line in enumerate(WRONG.splitlines(), 1) if "smem.copy" in line)
    line = WRONG.splitlines()[number - 1]
    column = line.index('"smem.copy"') + 1
    assert err.splitlines()[0].startswith(f"{path}:{number}:{column}: error: {COMPLAINT}")
    assert err.splitlines()[1:] == [f"  {line}", f"  {' ' * (column - 1)}^"]


def test_text_that_does_not_parse(run):
    code, out, err = run(text="nonsense")
    assert (code, out) == (1, "")
    assert err.splitlines()[0].startswith("<stdin>:1:1: error: custom op 'nonsense' is unknown")


def test_an_error_in_another_file_has_its_name(run):
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":1:3)'))
    _, _, err = run("--smem-to-nvvm", text=text)
    assert err.startswith(
        "host.py:1:3: error: 'smem.alloc' op has no layout that all its uses accept"
    )


def test_a_line_of_another_file_is_not_shown(run):
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":1:3)'))
    _, _, err = run("--smem-to-nvvm", text=text)
    assert text.splitlines()[0] not in err


def test_an_error_without_a_position(run):
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc(unknown)'))
    code, _, err = run("--smem-to-nvvm", text=text)
    assert code == 1
    assert err.startswith("<stdin>: error: 'smem.alloc' op has no layout")


# Parts.


def test_parts_are_processed_alone(run):
    code, out, _ = run("--split-input-file", text=f"{module()}// -----\n{module()}")
    assert code == 0
    assert out == f"{parse_and_print(module())}// -----\n{parse_and_print(module())}"


def test_the_lines_of_a_part_keep_their_numbers(run):
    code, out, err = run("--split-input-file", text=TWO)
    number = next(
        i for i, line in enumerate(TWO.splitlines(), 1) if "<32x64" in line and "copy" in line
    )
    assert (code, out) == (1, "")
    assert err.startswith(f"<stdin>:{number}:")


def test_parts_after_a_wrong_one_are_processed(run):
    _, _, err = run("--split-input-file", text=f"{WRONG}// -----\n{WRONG}")
    assert err.count(COMPLAINT) == 2


# Verifying diagnostics.


def insert_comment(text, comment):
    """Return a module with a comment before its copy."""
    return text.replace('"smem.copy"', f'// expected-{comment}\n    "smem.copy"', 1)


def test_diagnostics_that_are_expected(run):
    text = insert_comment(WRONG, "error@below {{to a tile of 32x64}}")
    assert run("--verify-diagnostics", text=text) == (0, "", "")


def test_a_diagnostic_that_is_not_expected(run):
    code, out, err = run("--verify-diagnostics", text=WRONG)
    assert (code, out) == (1, "")
    assert "error: unexpected error: " + COMPLAINT in err


def test_an_expectation_that_is_not_met(run):
    text = "// expected-error {{too bad}}\n" + module()
    assert run("--verify-diagnostics", text=text) == (
        1,
        "",
        '<stdin>:1: error: expected error "too bad" was not produced\n',
    )


def test_expected_remarks(run):
    text = module().replace("%a =", "// expected-remark@below {{was chosen}}\n    %a =")
    text = text.replace("%b =", "// expected-remark@below {{was chosen}}\n    %b =")
    assert run("--smem-assign-layouts=explain=true", "--verify-diagnostics", text=text)[0] == 0


def test_each_part_is_verified_alone(run):
    good = insert_comment(WRONG, "error@+1 {{32x64}}")
    both = run("--verify-diagnostics", "--split-input-file", text=f"{good}// -----\n{good}")
    assert both == (0, "", "")
    assert (
        run("--verify-diagnostics", "--split-input-file", text=f"{good}// -----\n{WRONG}")[0] == 1
    )


# Printing.


def test_the_generic_form(run):
    _, out, _ = run("--mlir-print-op-generic", text=module())
    assert '"gpu.func"() <{' in out
    assert run(text=out)[1] == parse_and_print(module())


def test_locations(run):
    assert 'loc("-":' in run("--mlir-print-debuginfo", text=module())[1]


def test_unregistered_dialects(run):
    text = '"host.op"() : () -> ()'
    code, _, err = run(text=text)
    assert code == 1
    assert "host.op" in err
    code, out, _ = run("--allow-unregistered-dialect", text=text)
    assert code == 0
    assert '"host.op"' in out


def headings(err):
    return [line for line in err.splitlines() if line.startswith("// -----// IR Dump")]


def test_the_ir_around_a_pass(run):
    code, _, err = run(
        "--smem-assign-layouts",
        "--smem-allocate",
        "--mlir-print-ir-before=smem-allocate",
        "--mlir-print-ir-after=smem-allocate",
        text=module(),
    )
    assert code == 0
    assert headings(err) == [
        "// -----// IR Dump Before smem-allocate //----- //",
        "// -----// IR Dump After smem-allocate //----- //",
    ]
    before, after = err.split(headings(err)[1])
    assert ("offset = 0" in before, "offset = 0" in after) == (False, True)


def test_the_ir_around_every_pass(run):
    flags = ("--mlir-print-ir-before-all", "--mlir-print-ir-after-all")
    _, _, err = run("--smem-assign-layouts", "--cse", *flags, text=module())
    assert [h.split()[4:6] for h in headings(err)] == [
        ["Before", "smem-assign-layouts"],
        ["After", "smem-assign-layouts"],
        ["Before", "cse"],
        ["After", "cse"],
    ]


def test_the_ir_after_every_pass_of_a_pipeline(run):
    _, _, err = run("--smem-to-nvvm", "--mlir-print-ir-after-all", text=module())
    assert len(headings(err)) == 8


def test_the_ir_around_a_pass_of_a_pipeline(run):
    code, _, _ = run("--smem-to-nvvm", "--mlir-print-ir-after=smem-allocate", text=module())
    assert code == 0


# Lists.


def test_passes_are_listed_with_their_options(run):
    code, out, err = run("--list-passes")
    assert (code, err) == (0, "")
    assert "--smem-to-nvvm" in out
    assert "reserved-bytes" in out


def test_dialects_are_listed(run):
    code, out, _ = run("--show-dialects")
    assert code == 0
    assert {"smem", "gpu", "nvvm"} <= set(out.split())


def test_the_dialect_is_dumped_as_irdl(run):
    code, out, _ = run("--dump-irdl")
    assert code == 0
    assert out.startswith("module")
    assert "irdl.dialect @smem" in out


def test_help(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "--pass-pipeline" in out


# With --debug.


@pytest.mark.parametrize(
    "arguments, error",
    [
        (["nowhere.mlir"], InputError),
        (["--smem-nothing"], OptionError),
        (["--pass-pipeline=a,,b"], OptionError),
    ],
)
def test_errors_are_raised_for_debugging(arguments, error, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(module().encode())))
    with pytest.raises(error):
        smem_opt([*arguments, "--debug"])
