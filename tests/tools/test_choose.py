"""`smem-layout choose` as a command: its options, its output and its refusals."""

import json

import pytest

from mlir_smem.tools.smem_layout import smem_layout


@pytest.fixture
def run(capsys):
    """Run the command; return (exit code, standard output, standard error)."""

    def call(*arguments):
        try:
            code = smem_layout(["choose", *arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


BOTH = ("--a", "128x64xbf16", "--b", "64x256xbf16")


def test_the_text_has_layouts_descriptors_and_instructions(run):
    code, out, err = run(*BOTH)
    assert (code, err) == (0, "")
    expected = [
        "A: 128x64 bf16 (M x K), K-major (row-major) in global memory, filled by TMA\n",
        "B: 64x256 bf16 (K x N), N-major (row-major) in global memory, filled by TMA\n",
        "  layout     Swizzle<3,4,3> o (128,64):(64,1)\n",
        "  TMA        4 copies of the box {64, 64}, CU_TENSOR_MAP_SWIZZLE_128B\n",
        "  Descriptor: 0x4000004000010000 | (address & 0x3ffff) >> 4\n",
        "    64-127  48-63  +518  +8288  0x4000004000010246\n",
        "  8 x wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16, imm-trans-a = 0, "
        "imm-trans-b = 1\n",
    ]
    assert [text for text in expected if text not in out] == []


def test_json(run):
    code, out, err = run(*BOTH, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["a"]["descriptor"]["constant"] == "0x4000004000010000"


def test_options_reach_the_choice(run):
    code, out, _ = run(
        *("--a", "64x64xf16", "--load", "16-byte", "--load-a", "tma,ldmatrix", "--a-major", "m"),
        *("--max-swizzle", "64", "--threads", "256", "--stages", "4", "--b", "64x64xf16"),
        *("--b-major", "k", "--json"),
    )
    assert code == 0
    a, b = (json.loads(out)[name] for name in "ab")
    assert (a["loads"], b["loads"]) == (["tma", "ldmatrix"], ["16-byte"])
    assert (a["major"], b["major"], a["swizzle"], a["stages"]) == ("m", "k", "64B", 4)


def test_threads_reach_the_prediction(run):
    assert "of 16 bytes by 96 threads" in run("--a", "64x64xf16", "--threads", "96")[1]


def test_cuda_has_its_command(run):
    code, out, _ = run(*BOTH, "--stages", "2", "--max-swizzle", "64", "--emit", "cuda")
    assert code == 0
    command = (
        "smem-layout choose --a 128x64xbf16 --b 64x256xbf16 --max-swizzle 64 --stages 2 --emit cuda"
    )
    assert out.splitlines()[1] == f"//   {command}"
    assert run(*command.split()[2:])[1] == out


def test_options_of_tcgen05_reach_the_choice_and_the_command(run):
    command = (
        "choose --a 128x768xe2m1 --b 768x64xe2m1 --arch sm_103 --ctas 2 --scaled ue4m3 --k-bytes 48 "
        "--emit cuda"
    )
    code, out, _ = run(*command.split()[1:])
    assert code == 0
    assert out.splitlines()[1] == f"//   smem-layout {command}"
    mma = json.loads(run(*command.split()[1:-2], "--json")[1])["mma"]
    assert (mma["kind"], mma["ctas"], mma["scale"]) == ("mxf4nvf4", 2, "ue4m3")
    assert mma["instructions"][0]["k"] == 96


def test_the_scale_block_reaches_the_choice(run):
    tiles = ("--a", "128x256xe2m1", "--b", "256x64xe2m1", "--arch", "sm_100", "--scaled")
    _, out, _ = run(*tiles, "--block", "16", "--emit", "cuda", "--json")
    choice = json.loads(out)
    assert (choice["mma"]["kind"], choice["mma"]["block"]) == ("mxf4nvf4", 16)
    assert "--scaled ue8m0 --block 16 --emit cuda\n" in choice["cuda"]


def test_scale_factors_are_ue8m0_by_default(run):
    _, out, _ = run("--a", "128x128xe4m3", "--b", "128x64xe4m3", "--arch", "sm_100", "--scaled")
    assert "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32" in out
    assert "Scale factors: ue8m0, one per 32 elements along K" in out


def test_the_text_has_the_instruction_descriptor(run):
    _, out, _ = run(*BOTH, "--arch", "sm_100")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "4 128 256 16 0x08410490" in lines
    assert "B's major 16 1 N-major" in lines
    assert "D takes 256 columns of tensor memory" in lines


def test_cuda_within_json(run):
    code, out, _ = run(*BOTH, "--emit", "cuda", "--json")
    assert code == 0
    assert json.loads(out)["cuda"].startswith("// Tiles in shared memory")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["--a", "128x64xbf17"],
            "malformed tile: expected an element type, one of f16, bf16, tf32, e4m3, e5m2, s8, u8, b1, "
            "s32, e2m1, e2m1_p64, e2m3_p32, e3m2_p32\n  128x64xbf17\n         ^\n  for example "
            "128x64xbf16",
        ),
        (
            ["--a", "128x64xbf16", "--load", "tma,ldmatrx"],
            "malformed load: expected tma, 16-byte or ldmatrix\n  tma,ldmatrx\n      ^\n  for example "
            "tma,ldmatrix",
        ),
        ([], "no operand is given; expected A, B or both, for example 128x64xbf16"),
        (
            ["--a", "100x64xbf16"],
            "A: M is 100; expected a multiple of 64, for example 64 or 128",
        ),
    ],
)
def test_refusals(run, arguments, message):
    assert run(*arguments) == (1, "", f"smem-layout choose: error: {message}\n")


@pytest.mark.parametrize("arguments", [["--a-major", "n"], ["--emit", "hip"], ["--stages", "many"]])
def test_invalid_options(run, arguments):
    code, out, err = run("--a", "64x64xf16", *arguments)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert arguments[0] in err
