"""`run_on_cpu` and `smem-run --on cpu`: results, violations and errors."""

import io
import sys
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from mma_programs import AGAIN, ASYNC
from programs import PRODUCT, kernel, module

import mlir_smem
from mlir_smem.emulator import ViolationKind, Violations
from mlir_smem.runtime import LaunchError, run_on_cpu
from mlir_smem.runtime import cpu as on_cpu
from mlir_smem.tools.smem_run import smem_run

SPACE = "memref<4xi32, #gpu.address_space<workgroup>>"
BUFFER = f"memref.global @buffer : {SPACE}\n"

#: Racing stores to shared memory that does not belong to smem ops.
SHARED_RACES = f"""
    %i = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %s = memref.get_global @buffer : {SPACE}
    memref.store %one, %s[%i] : {SPACE} // first
    gpu.barrier
    memref.store %one, %s[%i] : {SPACE} // second
"""
RACES = SHARED_RACES + PRODUCT


def arrays(dtype=np.float32):
    rng = np.random.default_rng(3)
    return (rng.integers(-4, 5, shape).astype(dtype) for shape in ((64, 64), (64, 8)))


@pytest.fixture(scope="module")
def product_kernel():
    return mlir_smem.compile(module(), emit="nvvm")


def inputs_of_the_product():
    a, b = arrays(ml_dtypes.bfloat16)
    return {"A": a, "B": b}


# As a function.


def test_product_is_returned(product_kernel):
    inputs = inputs_of_the_product()
    before = {name: array.copy() for name, array in inputs.items()}
    outputs = run_on_cpu(product_kernel, None, inputs, ["D"], [1])
    a, b = arrays()
    assert list(outputs) == ["D"]
    assert (outputs["D"] == a @ b).all()
    assert all((inputs[name] == before[name]).all() for name in inputs)


def test_inputs_can_be_read_back_and_are_not_changed(product_kernel):
    inputs = inputs_of_the_product()
    outputs = run_on_cpu(product_kernel, "product", inputs, ["A", "D"], [1])
    assert (outputs["A"] == inputs["A"]).all()
    assert outputs["A"] is not inputs["A"]


def test_progress_counts_the_ctas_of_the_grid():
    seen = []
    nothing = mlir_smem.compile(module(kernel("")), emit="nvvm")

    def progress(blocks, total):
        for block in blocks:
            seen.append((block, total))
            yield block

    run_on_cpu(nothing, None, inputs_of_the_product(), ["D"], [2, 3], progress)
    assert seen == [((x, y, 0), 6) for y in range(3) for x in range(2)]


def test_kernel_that_was_compiled_to_ptx():
    with pytest.raises(LaunchError, match="compile with emit='nvvm'"):
        run_on_cpu(
            mlir_smem.compile(module(), emit="ptx"), None, inputs_of_the_product(), ["D"], [1]
        )


def test_kernel_without_a_known_block_size(product_kernel):
    (entry,) = product_kernel.manifest["kernels"]
    manifest = {**product_kernel.manifest, "kernels": [{**entry, "block": None}]}
    with pytest.raises(LaunchError, match="product has no known_block_size"):
        run_on_cpu(
            replace(product_kernel, manifest=manifest), None, inputs_of_the_product(), ["D"], [1]
        )


def test_arrays_that_exceed_this_machines_memory(product_kernel, monkeypatch):
    monkeypatch.setattr(on_cpu.os, "sysconf", lambda name: 100)
    with pytest.raises(LaunchError, match="the emulator needs three copies"):
        run_on_cpu(product_kernel, None, inputs_of_the_product(), ["D"], [1])


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda inputs: inputs.pop("B"), "nothing is given for B"),
        (lambda inputs: inputs.update(A=inputs["B"]), "A is "),
        (lambda inputs: inputs.update(A=inputs["A"].astype(np.float64)), "A "),
        (lambda inputs: inputs.update(A=np.asfortranarray(inputs["A"])), "A "),
    ],
)
def test_arrays_that_do_not_fit(product_kernel, change, message):
    inputs = inputs_of_the_product()
    change(inputs)
    with pytest.raises(LaunchError, match=message):
        run_on_cpu(product_kernel, None, inputs, ["D"], [1])


def test_violations_are_raised_with_their_locations():
    broken = mlir_smem.compile(module(BUFFER, kernel(SHARED_RACES)), emit="nvvm")
    with pytest.raises(Violations) as error:
        run_on_cpu(broken, None, inputs_of_the_product(), ["D"], [2])
    assert [violation.kind for violation in error.value.found] == [ViolationKind.RACE] * 2
    assert {violation.cta for violation in error.value.found} == {(0, 0, 0)}
    assert str(error.value) == "\n".join(map(str, error.value.found))
    assert str(error.value).endswith("(CTA 0, 0, 0)")


# As a command.


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, array in zip("ab", arrays(), strict=True):
        np.save(f"{name}.npy", array)
    return tmp_path


@pytest.fixture
def run(folder, capsys, monkeypatch):
    def call(body, *options, file="product.mlir"):
        text = module(BUFFER, kernel(body))
        (folder / "product.mlir").write_text(text)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        files = ("--in", "A=a.npy", "--in", "B=b.npy", "--out", "D=d.npy")
        code = smem_run([file, *files, "--on", "cpu", "--grid", "1", *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_kernel_without_a_grid(product_kernel):
    with pytest.raises(LaunchError, match=r"product has no smem\.grid; pass a grid"):
        run_on_cpu(product_kernel, None, inputs_of_the_product(), ["D"])


@pytest.mark.parametrize("body, times", [(PRODUCT, 1), (ASYNC, 1), (AGAIN, 2)])
def test_command_writes_the_product(run, folder, body, times):
    assert run(body) == (0, "", "D: [64, 8] float32 in d.npy\n")
    assert (np.load("d.npy") == times * np.load("a.npy") @ np.load("b.npy")).all()


@pytest.mark.parametrize("file, shown", [("product.mlir", "product.mlir"), ("-", "<stdin>")])
def test_command_shows_violations_with_their_source_lines(run, folder, file, shown):
    code, out, err = run(RACES, file=file)
    assert (code, out) == (1, "")
    lines = err.splitlines()
    source = module(BUFFER, kernel(RACES)).splitlines()
    assert len(lines) == 6
    for shown_lines, mark in ((lines[:3], "// first"), (lines[3:], "// second")):
        line_number = next(i for i, line in enumerate(source) if line.endswith(mark))
        assert shown_lines[0].startswith(f"{shown}:{line_number + 1}:")
        assert ": error: several threads write the bytes from 0x404 to 0x407" in shown_lines[0]
        assert shown_lines[0].endswith(" [race, CTA 0, 0, 0]")
        assert shown_lines[1].strip() == source[line_number].strip()
        assert shown_lines[2].strip() == "^"
        assert shown_lines[2].index("^") == shown_lines[1].index("memref.store")
    assert not (folder / "d.npy").exists()


def test_no_progress_bar_in_a_file(run, monkeypatch):
    assert run("", "--grid", "4")[2] == "D: [64, 8] float32 in d.npy\n"


def test_progress_bar_on_a_terminal(run, monkeypatch):
    from mlir_smem.tools import smem_run as command

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    blocks = command._progress(range(3), 3)
    assert not blocks.disable
    assert list(blocks) == [0, 1, 2]
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert command._progress(range(3), 3).disable


def test_op_that_the_emulator_does_not_know(run, folder):
    code, _, err = run(PRODUCT + "    %x = gpu.num_subgroups : index\n")
    assert code == 1
    assert "Traceback" not in err
    assert ": error: 'gpu.num_subgroups' is an op that the emulator does not know" in err
    assert err.startswith("product.mlir:")
    assert not (folder / "d.npy").exists()


def with_manifest(product_kernel, **changed):
    """The kernel with changed fields in its manifest."""
    (entry,) = product_kernel.manifest["kernels"]
    return replace(
        product_kernel, manifest={**product_kernel.manifest, "kernels": [{**entry, **changed}]}
    )


def test_arrays_that_tma_cannot_take_are_refused_as_on_a_gpu(product_kernel):
    entry = {"argument": "A", "box": [64, 64], "contiguous": 0, "element": "bf16"}
    mapped = with_manifest(product_kernel, tensor_maps=[{**entry, "swizzle": "128B"}])
    a, b = arrays(ml_dtypes.bfloat16)
    with pytest.raises(LaunchError) as error:
        run_on_cpu(mapped, None, {"A": a, "B": b}, ["D"], (1,))
    assert str(error.value) == (
        "A has the stride 64 (elements) along dimension 0; TMA takes 1 there"
    )


def test_grid_of_half_a_cluster_is_refused_as_on_a_gpu(product_kernel):
    a, b = arrays(ml_dtypes.bfloat16)
    with pytest.raises(LaunchError, match="product has clusters; expected multiples of"):
        run_on_cpu(
            with_manifest(product_kernel, cluster=[2, 1, 1]), None, {"A": a, "B": b}, ["D"], (1,)
        )
