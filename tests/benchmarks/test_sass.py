"""The main loop of a GEMM is found in the output of three tools."""

import re
from pathlib import Path

import main_loop
import pytest
from main_loop import choose_function, count_loop, render
from sass import Instruction, loops, parse, parse_ncu, read

# SASS of examples/matmul.mlir with N = 8, from nvdisasm.
SAMPLE = Path(__file__).with_name("main_loop.sass")


def code(*lines):
    """Return instructions 16 bytes apart; a branch target is the number of a line."""
    text = "\tFunction : f\n"
    for number, line in enumerate(lines):
        instruction = re.sub(r"#(\d+)", lambda match: hex(16 * int(match[1])), line)
        text += f"/*{16 * number:04x}*/ {instruction} ;\n"
    return parse(text)["f"]


def names(instructions):
    return " ".join(instruction.name for instruction in instructions)


def test_an_instruction_is_parsed():
    (instruction,) = code("@!P0 BRA P1, #0")
    assert instruction == Instruction(0, "BRA", "@!P0", "P1, 0x0", 0)


def test_labels_become_addresses():
    instructions = parse(".text.f:\n.L_x_1:\n/*0010*/ NOP ;\n/*0020*/ @P0 BRA `(.L_x_1) ;\n")["f"]
    assert instructions[1].target == 0x10


def test_labels_belong_to_their_function():
    text = "".join(
        f".text.{name}:\n.L_x_1:\n/*{address}*/ @P0 BRA `(.L_x_1) ;\n"
        for name, address in (("f", "0010"), ("g", "0030"))
    )
    assert {name: instructions[0].target for name, instructions in parse(text).items()} == {
        "f": 0x10,
        "g": 0x30,
    }


def test_the_loop_of_the_sample():
    loop = count_loop(choose_function(read(SAMPLE), ""))
    assert (loop.matrix, loop.count) == ("HGMMA.64x8x16.F32.BF16", 4)
    assert loop.multiply_adds == 64 * 8 * 16
    # The copies of the iteration after the next are in a branch; the barrier is not.
    assert loop.per_matrix_instruction("BAR") == "0.25"
    assert loop.per_matrix_instruction("LDGSTS") == "0.00 + 1.25"


def test_conditional_code_of_a_loop_is_separate():
    (loop,) = loops(code("NOP", "IADD3", "@P0 BRA #4", "FADD", "HGMMA", "@P1 BRA #1", "EXIT"))
    assert (loop.head, names(loop.always)) == (16, "IADD3 BRA HGMMA BRA")
    assert names(loop.branches) == "FADD"


def test_code_of_inner_loops_is_excluded():
    separated = loops(code("IADD3", "SYNCS", "@!P0 BRA #1", "HGMMA", "@P1 BRA #0", "EXIT"))
    assert {names(loop.always) for loop in separated} == {"SYNCS BRA", "IADD3 HGMMA BRA"}


def test_code_after_exit_belongs_to_its_loop():
    lines = ("NOP", "SYNCS", "@!P0 BRA #6", "HGMMA", "@P1 BRA #1", "EXIT", "NANOSLEEP", "BRA #3")
    (loop,) = loops(code(*lines))
    assert names(loop.branches) == "NANOSLEEP BRA"
    assert names(loop.matrix) == "HGMMA"


def test_threads_converge_at_the_target_of_bssy():
    lines = ("NOP", "BSSY B0, #5", "@P0 BRA #4", "FADD", "BSYNC B0", "HGMMA", "@P1 BRA #1", "EXIT")
    (loop,) = loops(code(*lines))
    assert names(loop.always) == "BSSY BRA BSYNC HGMMA BRA"


def test_the_loop_with_most_matrix_instructions_is_the_main_loop():
    loop = count_loop(code("HGMMA", "@P0 BRA #0", "HGMMA", "HGMMA", "FADD", "@P0 BRA #2", "EXIT"))
    assert loop.count == 2
    assert loop.per_matrix_instruction() == "1.00"


def test_straight_code_has_no_main_loop():
    with pytest.raises(ValueError, match="none of 0 loops in 2 instructions multiplies matrices"):
        count_loop(code("HGMMA", "EXIT"))


def test_a_loop_that_does_not_multiply_is_no_main_loop():
    with pytest.raises(ValueError, match="none of 1 loops in 4 instructions"):
        count_loop(code("HGMMA", "FADD", "@P0 BRA #1", "EXIT"))


def test_text_without_instructions_is_refused():
    with pytest.raises(ValueError, match="no SASS instruction in these 2 lines"):
        parse("nothing\nhere")


def test_text_that_is_no_instruction_is_refused():
    with pytest.raises(ValueError, match="no instruction at 0x10: '@P0'"):
        parse(".text.f:\n/*0010*/ @P0 ;\n")


@pytest.mark.parametrize("target", ["0x7f0010", "0x10"])
def test_ncu_s_source_page(target):
    text = (
        '"Kernel Name","gemm(int, int)",\n'
        '"#","Address","Source","Samples"\n'
        '"1","7f0000","      IADD3 R1, R1, R2, R3","3"\n'
        '"2","7f0010","      HGMMA.64x8x16.F32.BF16 R24, gdesc[UR4], R24","3"\n'
        f'"3","7f0020","@P0 BRA {target}","1"\n'
        '"4","7f0030","EXIT","0"\n'
    )
    (loop,) = loops(parse_ncu(text)["gemm(int, int)"])
    assert (loop.head, names(loop.always)) == (16, "HGMMA BRA")


def test_a_source_page_needs_its_columns():
    with pytest.raises(ValueError, match="no table with the columns Address and Source"):
        parse_ncu('"Kernel Name","gemm"\n"Line","Text"\n')


def test_the_function_with_matrix_instructions_is_chosen():
    functions = {"copy": code("EXIT"), "gemm": code("HGMMA", "EXIT")}
    assert choose_function(functions, "") is functions["gemm"]


@pytest.mark.parametrize(
    "pattern, message", [("", "2 functions .* not one: f, g"), ("h", "0 functions .* none of f, g")]
)
def test_the_function_must_be_unique(pattern, message):
    with pytest.raises(ValueError, match=f"{message}; choose with --function"):
        choose_function({name: code("HGMMA", "EXIT") for name in "fg"}, pattern)


def test_the_table_compares_kernels():
    kernels = {
        "a": count_loop(code("HGMMA.64x8x16", "IADD3", "@P0 BRA #0", "EXIT")),
        "b": count_loop(code("IGMMA", "IGMMA", "@P0 BRA #0", "EXIT")),
    }
    assert render(kernels, markdown=False).splitlines() == [
        "                                  a      b",
        "matrix instruction    HGMMA.64x8x16  IGMMA",
        "multiply-adds of one           8192      ?",
        "in the loop                       1      2",
        "others for one                 2.00   0.50",
        "BRA                            1.00   0.50",
        "IADD3                          1.00      -",
    ]


def test_the_command_reports_an_error(capsys, monkeypatch, tmp_path):
    file = tmp_path / "empty.sass"
    file.write_text("")
    monkeypatch.setattr("sys.argv", ["main_loop.py", f"ours={file}"])
    assert main_loop.main() == 1
    assert f"{file}: error: no SASS instruction in these 0 lines" in capsys.readouterr().err
