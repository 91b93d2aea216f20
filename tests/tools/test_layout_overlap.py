"""Layouts whose elements share an address: each subcommand that takes one says what `smem.alloc` says."""

import numpy as np
import pytest

from mlir_smem.layout import element, parse_layout

OVERLAPPING = "Swizzle<3,4,3> o (64,128):(64,1)"
PROBLEM = parse_layout(OVERLAPPING, element("bf16")).overlap_problem()
STAGES = "Swizzle<3,4,3> o (4,64,64):(2048,64,1)"
DESCRIPTOR = "0x4000004000010040"
A = [OVERLAPPING, "--element", "bf16"]


def test_match(output_of, json_of):
    assert output_of("match", *A).startswith(f"no match  {PROBLEM}\n")
    answer = json_of("match", *A)
    assert (answer["matches"], answer["mismatch"]["reason"]) == (False, PROBLEM)
    stages = "puts the elements [0, 32, 0] and [1, 0, 0] in the same place, byte 0x1000"
    assert stages in output_of("match", STAGES, "--element", "bf16")


def test_encode(error_of):
    assert PROBLEM in error_of("encode", *A)
    shape = ["--shape", "64,128", "--strides", "64,1", "--swizzle", "128", "--element", "bf16"]
    assert PROBLEM in error_of("encode", *shape)
    long = ["--element", "e2m1", "--arch", "sm_103", "--k-bytes", "48"]
    assert "puts the elements" in error_of("encode", "Swizzle<3,4,3> o (128,384):(256,1)", *long)


def test_a_map(output_of, error_of, tmp_path):
    # Rows at steps of half their length.
    np.save(tmp_path / "map.npy", np.add.outer(np.arange(64) * 32, np.arange(64)))
    arguments = ["--map", str(tmp_path / "map.npy"), "--element", "bf16"]
    assert "puts the elements [0, 32] and [1, 0] in the same place" in output_of(
        "match", *arguments
    )
    assert "puts the elements [0, 32] and [1, 0] in the same place" in error_of(
        "encode", *arguments
    )


def test_diagnose(output_of, json_of):
    steps = ["--descriptor", DESCRIPTOR, "--k-steps", "0,2,4,6,8,10,12,14"]
    first, second, *_ = output_of("diagnose", *A, *steps).splitlines()
    assert first == (
        "8064 elements of the tile are written to the place of another one, which is lost or "
        "overwrites them"
    )
    assert second == f"no descriptor reads the tile: {PROBLEM}"
    answer = json_of("diagnose", *A, *steps)
    assert (answer["correct"], answer["wrong"], answer["sharing"]) == (False, 0, 8064)


def test_plot(json_of):
    (picture,) = json_of("plot", *A)
    assert PROBLEM in picture["notes"]


@pytest.mark.parametrize("command", ["match", "diagnose", "encode"])
def test_scale_factors(run_command, command):
    from mlir_smem.tools.smem_layout import smem_layout

    layout, more = "((32,4),4):((16,4),0)", []
    if command == "diagnose":
        more = ["--descriptor", "0x400800010080"]
    words = (layout, "--element", "ue8m0", "--role", "scales", *more)
    _, out, err = run_command(smem_layout, command, *words)
    problem = parse_layout(layout, element("ue8m0")).overlap_problem()
    assert "a stride of 0 repeats elements" in problem
    assert problem in out + err


def test_fields_whose_reads_overlap(output_of):
    """With an element type, the fields are checked as `decode` checks them."""
    fields = ["encode", "--lbo", "128", "--sbo", "128"]
    assert "overlap" not in output_of(*fields)
    assert "suspicious (overlap): elements (0,8) and (8,0)" in output_of(
        *fields, "--element", "bf16"
    )


def test_what_the_dialect_says(run_command):
    from mlir_smem.tools.smem_opt import smem_opt

    type_ = f'!smem.tile<tensor<64x128xbf16>, #smem.layout<"{OVERLAPPING}">>'
    text = f'func.func @f() {{\n  %0 = "smem.alloc"() : () -> {type_}\n  return\n}}'
    _, _, err = run_command(smem_opt, "-", text=text)
    assert PROBLEM in err
