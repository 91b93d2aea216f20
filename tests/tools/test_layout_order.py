"""The order of a tile's dimensions: the answer names the one that it assumed, and what would fit."""

import numpy as np
import pytest

PIPE = "Sw<3,4,3> o ((_8,_16),(_64,_1),(_1,_3)):((_64,_512),(_1,_0),(_0,_8192))"
OURS = "Swizzle<3,4,3> o (3,128,64):(8192,64,1)"
N_K = "Swizzle<3,4,3> o (256,64):(64,1)"
BF16 = ["--element", "bf16"]


def test_stages_last(output_of, json_of, error_of):
    assumed = "(stages, M, K), assumed; it matches as (M, K, stages) (--order m,k,stages)"
    assert f"order     {assumed}\n" in output_of("match", PIPE, *BF16)
    answer = json_of("match", PIPE, *BF16)
    assert (answer["matches"], answer["order"]["assumed"]) == (False, True)
    assert answer["order"]["fitting"] == [["m", "k", "stages"]]
    assert error_of("encode", PIPE, *BF16).endswith(
        "k is 3, not a multiple of 16 (32 bytes of bf16); it matches as (M, K, stages) (--order "
        "m,k,stages)"
    )


def test_both_orders_give_the_same_descriptors(json_of):
    explicit = json_of("encode", PIPE, *BF16, "--order", "m,k,stages")
    assumed = json_of("encode", OURS, *BF16)
    assert explicit.pop("notes") == [
        "order: (M, K, stages), as given; the layouts of this answer are (stages, M, K)"
    ]
    assert assumed.pop("notes") == [
        "order: (stages, M, K), assumed; CuTe's (M, K, stages) is --order m,k,stages"
    ]
    assert explicit == assumed


def test_b(output_of, json_of):
    assert "order       (K, N), assumed; CuTe's (N, K) is --order n,k\n" in output_of(
        "match", "Swizzle<3,4,3> o (64,64):(64,1)", *BF16, "--role", "b"
    )
    # As (K, N) it would be N-major, which wgmma does not read of 8-bit types.
    text = output_of(
        "match", "Swizzle<2,4,3> o (256,64):(64,1)", "--element", "e4m3", "--role", "b"
    )
    assert "order     (K, N), assumed; it matches as (N, K) (--order n,k)" in text
    assert "nearest" not in text
    answer = json_of("match", N_K, *BF16, "--role", "b", "--order", "N, K")
    assert answer["encoded"]["operand"]["major"] == "k"
    assert answer["shape"] == [64, 256]


def test_neither_order_fits(output_of):
    """The answer gives the reason for CuTe's order, too."""
    text = output_of("match", N_K, "--element", "e4m3", "--role", "b")
    assert "the tile is N-major" in text
    assert "CuTe's (N, K) is --order n,k, where the MMA tile of 256x32 at (0, 0): along m/n" in text


def test_a_is_in_the_order_of_everyone(output_of):
    assert "order" not in output_of("match", "Swizzle<3,4,3> o (64,64):(64,1)", *BF16)


def test_a_map(json_of, tmp_path):
    places = np.add.outer(np.arange(256) * 32, np.arange(32))
    np.save(tmp_path / "map.npy", places)
    words = ["match", "--map", str(tmp_path / "map.npy"), "--element", "tf32", "--role", "b"]
    plain = json_of(*words)
    assert (plain["matches"], plain["order"]["written"]) == (False, ["k", "n"])
    assert json_of(*words, "--order", "n,k")["shape"] == [32, 256]


def test_diagnose(output_of, json_of):
    words = ["diagnose", N_K, *BF16, "--descriptor", "0x4000004000010040", "--k-steps", "0,2,4,6"]
    wrong = json_of(*words, "--role", "b")
    assert wrong["notes"] == ["order: (K, N), assumed; CuTe's (N, K) is --order n,k"]
    right = json_of(*words, "--role", "b", "--order", "n,k")
    assert right["correct"] and not wrong["correct"]
    stages = ["diagnose", PIPE, *BF16, "--descriptor", "0x4000004000010040"]
    assert json_of(*stages, "--order", "m,k,stages")["correct"]


def test_scale_factors(json_of):
    words = ["match", "((32,4),4,2):((16,4),1,512)", "--element", "ue8m0", "--role", "scales"]
    assert json_of(*words)["order"]["fitting"] == [["rows", "factors", "stages"]]
    assert json_of(*words, "--order", "rows,factors,stages")["matches"]


def test_plot(json_of):
    (picture,) = json_of("plot", PIPE, *BF16, "--order", "m,k,stages")
    assert (
        "order: (M, K, stages), as given; the layouts of this answer are (stages, M, K)"
        in picture["notes"]
    )


@pytest.mark.parametrize("order", ["m,n", "m,k,stages", "m,m", "", "k"])
def test_no_order(error_of, order):
    message = error_of("match", "(64,64):(64,1)", *BF16, f"--order={order}")
    assert "malformed --order: expected m, k, each once, in any order" in message


@pytest.mark.parametrize(
    "text, problem, fits",
    [
        (
            "Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_64):(_64,_1)",
            "'smem_ptr[16b](unset)' before the extents is not part of the notation",
            "Swizzle<3,4,3> o (_64,_64):(_64,_1)",
        ),
        (
            "S<3,4,3> o 0 o (64,64):(64,1)",
            "'0' before the extents is not part of the notation",
            "Swizzle<3,4,3> o (64,64):(64,1)",
        ),
        (
            "S<3,4,3> o (64,64):(64,1)",
            "a swizzle named 'S' is not part of the notation",
            "Swizzle<3,4,3> o (64,64):(64,1)",
        ),
    ],
)
def test_what_cute_prints_besides(error_of, output_of, text, problem, fits):
    lines = error_of("match", text, *BF16).split("\n")
    assert lines[0] == f"malformed layout: {problem}"
    assert lines[3] == f"  for example {fits}"
    assert output_of("match", fits, *BF16).startswith("matches")


def test_a_swizzle_of_elements(error_of):
    message = error_of("match", "Swizzle<3,3,3> o (64,64):(64,1)", *BF16)
    assert (
        "if its 3 counts elements of bf16, it is Swizzle<3,4,3>, whose base counts bytes" in message
    )


def test_rows_that_do_not_fit(output_of, json_of):
    """Neither a hint nor a nearest layout helps: --rows is what does not fit."""
    words = ["match", "Swizzle<3,4,3> o (64,64):(64,1)", *BF16, "--role", "b", "--rows", "48"]
    assert output_of(*words).startswith(
        "no match  instructions of N = 48 do not cut N = 64 evenly; N = 8, 16, 32, 64 do\n"
    )
    answer = json_of(*words)
    assert (answer["matching_swizzles"], answer["nearest"]) == ([], None)
    fits = json_of(*words[:-1], "32")
    assert fits["encoded"]["operand"]["rows"] == [32, 32]
