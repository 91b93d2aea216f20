"""JAX's Pallas matmul for Hopper on Mosaic GPU, in one process with PyTorch.

JAX runs on its own stream. A unit is one compiled call of several GEMMs. Each has its own parameter
for A (the same array is passed for all) and returns its result, so that XLA can neither merge nor
remove any; the compiled program is searched for all of them.
"""

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import torch

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# A CUDA graph need not run the GEMMs of a unit one after the other.
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_enable_command_buffer=")

import jax
from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as mosaic

_M, _N = mosaic.MatmulDimension.M, mosaic.MatmulDimension.N
_COMPILERS = 8


def _config(
    m: int,
    n: int,
    warpgroups: mosaic.MatmulDimension,
    cluster: mosaic.MatmulDimension | None,
    minor: mosaic.MatmulDimension = _N,
    width: int = 8,
) -> mosaic.TuningConfig:
    """A tile for each of two warpgroups, next to each other along a dimension."""
    return mosaic.TuningConfig(
        tile_m=m,
        tile_n=n,
        tile_k=64,
        max_concurrent_steps=4,
        grid_minor_dim=minor,
        grid_tile_width=width,
        wg_dimension=warpgroups,
        cluster_dimension=cluster,
    )


# In the order in which the time budget tries them.
CONFIGS = (
    _config(128, 128, _N, None, _M),
    _config(128, 128, _N, None),
    _config(128, 128, _M, None, _M),
    _config(128, 128, _M, None),
    _config(128, 128, _N, _M),
    _config(128, 128, _M, _N),
    _config(64, 256, _M, None),
    _config(64, 256, _M, _N),
    _config(128, 128, _N, None, _M, width=16),
    _config(128, 128, _N, None, width=16),
    _config(128, 128, _N, _N),
    _config(128, 128, _M, _M),
)


class JaxContender:
    """GEMMs of one compiled JAX function, as an `interleaved.Contender`."""

    def __init__(self, name: str, config: str, compiled: jax.stages.Compiled, arguments: tuple):
        self.name, self.config, self.gemms = name, config, len(arguments) - 1
        products = len(re.findall(r'custom_call_target="mosaic_gpu', compiled.as_text() or ""))
        if products != self.gemms:
            raise RuntimeError(f"{name}: the compiled program has {products} of {self.gemms} GEMMs")
        self._compiled, self._arguments = compiled, arguments
        self._stream = torch.cuda.Stream()

    def once(self) -> None:
        """Run one unit."""
        jax.block_until_ready(self._compiled(*self._arguments))

    def result(self) -> torch.Tensor:
        """The last result of a unit."""
        return torch.from_dlpack(self._compiled(*self._arguments)[-1]).clone()

    def batch(self, units: int) -> tuple[float, float]:
        """See `interleaved.Contender`."""
        torch.cuda.synchronize()
        start = time.perf_counter()
        results = self._compiled(*self._arguments)
        first = self._end_event(results)
        for _ in range(units):
            results = self._compiled(*self._arguments)
        last = self._end_event(results)
        last.synchronize()
        jax.block_until_ready(results)
        return first.elapsed_time(last) / 1e3, time.perf_counter() - start

    def _end_event(self, results: tuple[jax.Array, ...]) -> torch.cuda.Event:
        """An event after these results: taking one as a tensor makes our stream wait for JAX's."""
        event = torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(self._stream):
            torch.from_dlpack(results[-1])
            event.record()
        return event


def contenders(
    a: torch.Tensor, b: torch.Tensor, gemms: int, budget: float
) -> Iterator[JaxContender]:
    """A contender for each configuration that is compiled within `budget` seconds.

    A and B are row-major, the only layout of this matmul. A configuration that does not fit the GPU or
    the shape is left out.
    """
    deadline = time.monotonic() + budget
    left, right = jax.dlpack.from_dlpack(a), jax.dlpack.from_dlpack(b)
    arguments = (*[left] * gemms, right)
    pool = ThreadPoolExecutor(_COMPILERS)
    waiting: list[tuple[mosaic.TuningConfig, Future[jax.stages.Compiled]]] = [
        (config, pool.submit(_compile, config, arguments, deadline)) for config in CONFIGS
    ]
    for config, future in waiting:
        text = _describe(config)
        try:
            compiled = future.result()
            yield JaxContender(f"Mosaic {text}", text, compiled, arguments)
        except Exception as error:  # JAX raises many types of errors
            print(f"Mosaic {text} is left out: {type(error).__name__}: {str(error)[:200]}")
    pool.shutdown()


def _describe(config: mosaic.TuningConfig) -> str:
    """A short description of a configuration."""
    cluster = "none" if config.cluster_dimension is None else f"along {config.cluster_dimension}"
    return (
        f"{config.tile_m}x{config.tile_n}x{config.tile_k} a warpgroup, two along "
        f"{config.wg_dimension}, {config.max_concurrent_steps} steps, cluster {cluster}, "
        f"bands of {config.grid_tile_width} along {config.grid_minor_dim}"
    )


def _compile(
    config: mosaic.TuningConfig, arguments: tuple[jax.Array, ...], deadline: float
) -> jax.stages.Compiled:
    """Compile the product of each argument with the last one; TimeoutError past the deadline."""
    if time.monotonic() > deadline:
        raise TimeoutError("the budget is spent")

    def unit(*operands: jax.Array) -> tuple[jax.Array, ...]:
        *lefts, right = operands
        return tuple(product(left, right) for left in lefts)

    product = jax.jit(lambda left, right: mosaic.matmul(left, right, None, config))
    return jax.jit(unit).lower(*arguments).compile()
