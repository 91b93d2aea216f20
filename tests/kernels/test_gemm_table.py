"""`python -m mlir_smem.kernels.gemm table`: results of several caches in one table."""

import pytest

from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm import __main__ as command
from mlir_smem.kernels.gemm.call.tuned_table import gemm_key, read_table
from mlir_smem.kernels.gemm.call.tuning_cache import Task, write_tuned
from mlir_smem.runtime.tuning.halving import SearchResult

GPU = "NVIDIA H200"


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Two caches: the first has results of 8 and 16 rows, the second of 16 and 24."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, rows in zip(folders, [(8, 16), (16, 24)], strict=True):
        monkeypatch.setenv("MLIR_SMEM_CACHE", str(folder))
        for m in rows:
            keep(GPU, m, Config(group=folders.index(folder) + 1))
    return folders


def keep(gpu, m, config):
    write_tuned(Task(gpu, Problem(), m, 64, 64, (config,)), SearchResult(config, {config: 1.0}, {}))


def key(m):
    return gemm_key(Problem(), m, 64, 64)


def run(capsys, *arguments):
    code = command.main(["table", *map(str, arguments)])
    return code, capsys.readouterr().out


def error_of(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        command.main(["table", *map(str, arguments)])
    assert exit_.value.code == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_the_later_cache_counts(caches, capsys, tmp_path):
    out = tmp_path / "table.json"
    assert run(capsys, *caches, "--out", out) == (
        0,
        f"{out}: {GPU}, 3 GEMMs, 3 of them of 2 caches\n",
    )
    groups = {gemm: config.group for gemm, config in read_table(out, GPU).items()}
    assert groups == {key(8): 1, key(16): 2, key(24): 2}


def test_rows_of_the_table_are_kept(caches, capsys, tmp_path):
    out = tmp_path / "table.json"
    run(capsys, caches[0], "--out", out)
    run(capsys, caches[1], "--out", out)
    assert set(read_table(out, GPU)) == {key(8), key(16), key(24)}


def test_the_cache_of_the_environment_is_read(caches, capsys, tmp_path):
    run(capsys, "--out", tmp_path / "table.json")
    assert set(read_table(tmp_path / "table.json", GPU)) == {key(16), key(24)}


def test_damaged_results_are_left_out(caches, capsys, tmp_path):
    for number, data in enumerate([b"", b"[]", b"{}", b"\xff", b'{"task": {"problem": 1}}']):
        (caches[0] / f"{number}.tuned.json").write_bytes(data)
    run(capsys, caches[0], "--out", tmp_path / "table.json")
    assert set(read_table(tmp_path / "table.json", GPU)) == {key(8), key(16)}


def test_several_gpus_need_a_name(caches, capsys, tmp_path):
    keep("NVIDIA H100", 8, Config())
    out = tmp_path / "table.json"
    error = error_of(capsys, *caches, "--out", out)
    assert "--gpu is missing; expected " in error
    assert "'NVIDIA H200'" in error and "'NVIDIA H100'" in error
    assert "--gpu is 'A100'; expected " in error_of(capsys, *caches, "--gpu", "A100", "--out", out)
    assert not out.exists()
    run(capsys, *caches, "--gpu", "NVIDIA H100", "--out", out)
    assert set(read_table(out, "NVIDIA H100")) == {key(8)}


def test_a_cache_without_results(capsys, tmp_path):
    error = error_of(capsys, tmp_path, "--out", tmp_path / "table.json")
    assert error.endswith(f"error: no results of tune in {tmp_path}\n")


def test_a_cache_that_is_not_there(capsys, tmp_path):
    assert "No such file" in error_of(capsys, tmp_path / "none", "--out", tmp_path / "t.json")


def test_the_cache_is_off(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", "off")
    error = error_of(capsys, "--out", tmp_path / "table.json")
    assert error.endswith("the cache is off (MLIR_SMEM_CACHE); expected folders of caches\n")


def test_a_file_that_is_no_table_is_not_replaced(caches, capsys, tmp_path):
    out = tmp_path / "table.json"
    out.write_text("{}")
    assert f"{out} is no table of {GPU}: " in error_of(capsys, *caches, "--out", out)
    assert out.read_text() == "{}"
