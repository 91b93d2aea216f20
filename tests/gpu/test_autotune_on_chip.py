"""`@sl.autotune` on a chip: results are those of one run, whatever was measured before."""

import numpy as np
import pytest

import mlir_smem.language as sl

CONFIGS = [
    sl.Config(rows=64),
    sl.Config(rows=128),
    sl.Config(rows=64, tile=4096),  # more shared memory than a CTA has
    sl.Config(rows=192),  # no divisor of M
]


@sl.kernel("(M,64), (M,64), (1,), ()")
def accumulate(x, y, count, a, *, rows, tile=64):
    """y += a * x; `count` counts launches."""
    row = sl.grid(sl.cdiv(sl.multiple_of(x.shape[0], rows), rows)) * rows
    sl.alloc((64, tile), sl.f32)
    for first in range(0, rows, 64):
        block = sl.ds(row + first, 64)
        sl.store(sl.load(y[block, :]) + sl.load(x[block, :]) * a, y[block, :])
    if sl.thread_id() + sl.block_id(0) == 0:
        count[0] = count[0] + 1


@pytest.fixture
def torch(monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    return pytest.importorskip("torch")


def arrays(torch, dtype):
    a = torch.ones(512, 64, device="cuda", dtype=dtype)
    return a, torch.full_like(a, 3.0), torch.zeros(1, device="cuda", dtype=torch.int32)


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_a_kernel_that_accumulates_runs_once_a_call(torch, name):
    tuned = sl.autotune(CONFIGS, key=["M"], restore_value=["count"])(accumulate)
    a, b, count = arrays(torch, getattr(torch, name))
    number = np.dtype(name).type(2)
    for calls in (1, 2):
        tuned(a, b, count, number)
        assert (b == 3 + 2 * calls).all() and int(count) == calls
    assert tuned.best_config in CONFIGS[:2]
    tuned.prepare(a, b, count, number).launch()
    assert (b == 9).all() and int(count) == 3
    again = sl.autotune(CONFIGS, key=["M"])(accumulate)
    again(a, b, count, number)  # from the cache on disk
    assert (b == 11).all() and int(count) == 4 and again.best_config == tuned.best_config


def test_none_is_left(torch):
    with pytest.raises(sl.TuningError) as caught:
        sl.autotune(CONFIGS[2:])(accumulate)(*arrays(torch, torch.float32), 2.0)
    text = str(caught.value)
    assert "Config(rows=64, tile=4096): TraceError: " in text and "bytes" in text
    assert "Config(rows=192): CallError: M is 512; expected a positive multiple of 192" in text
