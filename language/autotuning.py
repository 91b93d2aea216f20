"""`@sl.autotune`: a kernel whose calls use the fastest of several configurations, by measurement."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from hashlib import sha256
from itertools import repeat
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ..codegen import toolchain
from ..codegen.errors import CompileError
from ..runtime import LaunchError, Prepared, cache_folder, device_array, is_cached
from ..runtime.devices import architecture, current_device, gpu_name, preserve_current_device
from ..runtime.tuning.cache import is_used, read_entry, write_entry
from ..runtime.tuning.compiling import (
    LOCK,
    compile_to_cache,
    hidden_main_module,
    local_processes,
)
from ..runtime.tuning.copies import DeviceCopy
from ..runtime.tuning.halving import TuningError, halving
from ..runtime.tuning.timing import Launchable, Stopwatch
from .call.on_arrays import KernelWithGrid
from .decorator import Kernel
from .errors import TraceError
from .freeze import freeze
from .performance import PerformanceWarning

#: Errors by which a configuration does not fit, before anything is written.
_REFUSALS = (TraceError, CompileError, LaunchError)


class Config(dict[str, Any]):
    """A configuration of a kernel: values of its keyword-only parameters.

    Example:
        >>> sl.Config(rows=128)
        Config(rows=128)
    """

    def __init__(self, **constants: Any) -> None:
        super().__init__(constants)

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(frozenset(self))

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value!r}' for name, value in self.items())})"


class Autotuned:
    """A kernel with several configurations: what `sl.autotune` makes. It is called as the kernel is.

    The first call for a key measures, and so does the first one for other element types or constants.

    Attributes:
        kernel: the kernel, whose other methods take a configuration as keywords.
        configs: the configurations.
    """

    def __init__(
        self, kernel: Kernel, configs: Sequence[Config], key: Sequence[str], restored: Sequence[str]
    ) -> None:
        self.__name__, self.__doc__ = kernel.__name__, kernel.__doc__
        self.__wrapped__ = kernel.function
        self.kernel, self.configs, self._restored = kernel, list(configs), restored
        places = _places(kernel)
        self._key_places = [places[name] for name in key]
        self._best: dict[Hashable, Config] = {}
        self._latest: list[Config] = []
        self._lock = Lock()
        self._grid: Any = None

    @property
    def best_config(self) -> Config | None:
        """The configuration of the latest call; None before one."""
        return self._latest[0] if self._latest else None

    def __repr__(self) -> str:
        return f"{repr(self.kernel)[:-1]}, autotuned among {len(self.configs)} configurations>"

    def __getitem__(self, grid: Any) -> Autotuned:
        """Return the same with a grid, as for `Kernel`, or with a function of the configuration that
        returns one."""
        other = copy.copy(self)
        other._grid = grid
        return other

    def __call__(
        self,
        *arguments: Any,
        on: str = "gpu",
        stream: Any = None,
        arch: str | None = None,
        **constants: Any,
    ) -> None:
        """Run the kernel once, with the fastest configuration; see the call of `Kernel`.

        On the emulator, it is the first one that compiles and fits the arguments.

        Raises:
            TuningError: if there is none; the message has the reason for each.
        """
        on_gpu = on == "gpu" and arch is None
        configs = [self._choose(arguments, constants)] if on_gpu else self.configs
        errors: dict[Config, Exception] = {}
        for config in configs:
            keywords = self._all_constants(constants, config)
            try:
                return self._target(config)(*arguments, on=on, stream=stream, arch=arch, **keywords)
            except _REFUSALS as error:
                errors[config] = error
        raise _error_of(errors)

    def prepare(self, *arguments: Any, **constants: Any) -> Prepared:
        """Return a launch with the fastest configuration; see `Kernel.prepare`."""
        config = self._choose(arguments, constants)
        return self._target(config).prepare(*arguments, **self._all_constants(constants, config))

    def _target(self, config: Config) -> Kernel | KernelWithGrid:
        """Return the kernel with the grid for a configuration."""
        self._latest[:] = [config]
        grid: Any = self._grid(config) if callable(self._grid) else self._grid
        return self.kernel if grid is None else self.kernel[grid]

    def _all_constants(self, constants: Mapping[str, Any], config: Config) -> dict[str, Any]:
        """Return the constants of a call and of a configuration."""
        for name in config.keys() & constants.keys():
            raise TraceError(
                f"{self.__name__} is called with {name}, which sl.autotune chooses; call "
                f"{self.__name__}.kernel to give it"
            )
        return {**constants, **config}

    def _choose(self, arguments: Sequence[Any], constants: Mapping[str, Any]) -> Config:
        """Return the fastest configuration for a call on a GPU; any, if the call will be refused."""
        try:
            types = tuple(str(getattr(argument, "dtype", type(argument))) for argument in arguments)
            values = tuple(
                arguments[position] if dim is None else arguments[position].shape[dim]
                for position, dim in self._key_places
            )
            key = types, values, freeze(constants)
            if (config := self._best.get(key)) is not None:
                return config
        except (AttributeError, IndexError):
            return self.configs[0]
        arguments_by_name = dict(zip(self.kernel.parameters, arguments, strict=False))
        arrays = {
            name: arguments_by_name.get(name)
            for name, p in self.kernel.parameters.items()
            if not p.is_scalar
        }
        refused = len(arguments) != len(self.kernel.parameters) or not all(
            hasattr(array, "shape") and not isinstance(array, np.ndarray)
            for array in arrays.values()
        )
        if refused or len(self.configs) == 1:
            return self.configs[0]
        with self._lock:
            if key not in self._best:
                self._best[key] = self._search(key, arguments_by_name, arrays, constants)
            return self._best[key]

    def _search(
        self,
        key: object,
        arguments_by_name: Mapping[str, Any],
        arrays: Mapping[str, Any],
        constants: Mapping[str, Any],
    ) -> Config:
        """Return the fastest configuration: from the cache on disk, or measured on copies of the arrays,
        so that the call finds them as they were."""
        types = [p.dtype or arguments_by_name[name] for name, p in self.kernel.parameters.items()]
        devices = [device_array(name, array).device for name, array in arrays.items()]
        errors, texts = dict[Config, Exception](), dict[Config, str]()
        with LOCK, preserve_current_device(), warnings.catch_warnings(), ExitStack() as stack:
            warnings.simplefilter("ignore", PerformanceWarning)
            gpu = gpu_name(devices[0] if devices else None)
            for config in self.configs:
                try:
                    texts[config] = self.kernel.mlir(
                        *types, **self._all_constants(constants, config)
                    )
                except _REFUSALS as error:
                    errors[config] = error
            code = sha256("".join(texts.values()).encode()).hexdigest()
            names = list(map(repr, self.configs))
            task = {"gpu": gpu, "code": code, "configs": names, "key": repr(key)}
            task |= {"kernel": self.__name__, "toolchain": repr(toolchain())}
            entry = (read_entry(task) if is_used() else None) or {}
            for config in texts:
                if entry.get("config") == repr(config):
                    return config
            self._compile(list(texts.values()))
            copies = {
                name: stack.enter_context(closing(DeviceCopy(name, array)))
                for name, array in arrays.items()
            }

            def prepare(config: Config) -> Launchable:
                keywords = self._all_constants(constants, config)
                try:
                    launch = self._target(config).prepare(
                        *{**arguments_by_name, **copies}.values(), **keywords
                    )
                except _REFUSALS as error:
                    errors[config] = error
                    raise
                return _Launch(launch, [copies[name] for name in self._restored])

            stopwatch = stack.enter_context(closing(Stopwatch(prepare)))
            try:
                result = halving(list(texts), stopwatch, dropped=_reasons(errors))
            except TuningError as error:
                raise (_error_of(errors) if len(errors) == len(self.configs) else error) from None
        write_entry(task, None, result, repr)
        return result.config

    def _compile(self, texts: Sequence[str]) -> None:
        """Compile kernels into the cache, several at a time; an error comes again at the launch."""
        arch, options = architecture(current_device()), self.kernel.lowering
        missing = [text for text in texts if not is_cached(text, arch, **options)]
        if cache_folder() is not None and len(missing) > 1:
            with local_processes() as compilers:
                with hidden_main_module():
                    errors = compilers.map(compile_to_cache, missing, repeat(arch), repeat(options))
                list(errors)


class _Launch(NamedTuple):
    """A launch that is measured, and the copies that it finds as the call gave them."""

    prepared: Prepared
    restored: Sequence[DeviceCopy]

    def launch(self, stream: Any = None) -> None:
        """Start it on a stream."""
        for array in self.restored:
            array.restore(stream)
        self.prepared.launch(stream)


def _reasons(errors: Mapping[Config, Exception]) -> dict[Config, str]:
    return {config: f"{type(error).__name__}: {error}" for config, error in errors.items()}


def _error_of(errors: Mapping[Config, Exception]) -> Exception:
    """Return the error of all configurations: their own, if they have the same."""
    reasons = _reasons(errors)
    return [*errors.values()][-1] if len(set(reasons.values())) == 1 else TuningError(reasons)


def _places(kernel: Kernel) -> dict[str | int, tuple[int, int | None]]:
    """Return where a call has extents and numbers: the argument, and the dimension of an extent."""
    places: dict[str | int, tuple[int, int | None]] = {}
    for position, (name, parameter) in reversed([*enumerate(kernel.parameters.items())]):
        if parameter.is_scalar:
            places[name] = position, None
        places |= {extent: (position, dim) for dim, extent in enumerate(parameter.shape)}
    return places


def autotune(
    configs: Iterable[Mapping[str, Any]],
    key: Sequence[str] = (),
    *,
    restore_value: Sequence[str] = (),
) -> Callable[[Kernel], Autotuned]:
    """Let each call of a kernel use the fastest of several configurations: `@sl.autotune(...)` above
    `@sl.kernel(...)`. The names are Triton's.

    The first call on a GPU for each key compiles all configurations and measures them, interleaved, on
    copies of the arrays: the call itself runs once, and finds its arrays as they were. The first
    configuration is the default; another one is used if it is proven to be faster
    (`runtime/tuning/halving.py`). The result is kept in this process, and on disk next to the compiled
    kernels, unless `MLIR_SMEM_TUNED` is "off". A configuration that cannot be traced, compiled or
    launched is left out. On the emulator, the first one that compiles runs.

    Args:
        configs: the values of keyword-only parameters, as `sl.Config(rows=64)` or a dictionary.
        key: names of extents of the signature, and of parameters that are numbers: for each of their
            values, configurations are measured anew. Element types and constants are part of each key.
        restore_value: arrays whose copies each measured launch finds as they were, for kernels that take
            another time on what an earlier launch has written. Copying is part of the time.

    Raises:
        TraceError: for something else than a kernel, no configuration, or a name that the kernel lacks.

    Example:
        >>> @sl.autotune([sl.Config(rows=64), sl.Config(rows=128)], key=["M"])
        ... @sl.kernel("(M,64), (M,64)")
        ... def double(A, B, *, rows):
        ...     row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], rows), rows)) * rows
        ...     for first in range(0, rows, 64):
        ...         block = sl.ds(row + first, 64)
        ...         sl.store(sl.load(A[block, :]) * 2.0, B[block, :])
        >>> x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
        >>> double(x, y, on="cpu")
        >>> double.best_config, float(y[0, 0])
        (Config(rows=64), 2.0)
    """

    def decorate(kernel: Kernel) -> Autotuned:
        if not isinstance(kernel, Kernel):
            raise TraceError(f"sl.autotune decorates {kernel!r}; write it above @sl.kernel(...)")
        named = [Config(**config) for config in configs]
        if not named:
            raise TraceError(f"sl.autotune of {kernel.__name__} has no configurations")
        arrays = {name for name, parameter in kernel.parameters.items() if not parameter.is_scalar}
        for kind, names, known in (
            ("constant", [name for config in named for name in config], kernel.constants),
            ("extent or number for a key", key, _places(kernel)),
            ("array to restore", restore_value, arrays),
        ):
            for name in names:
                if name not in known:
                    listed = ", ".join(sorted(n for n in known if isinstance(n, str))) or "none"
                    raise TraceError(f"{kernel.__name__} has no {kind} {name}; it has {listed}")
        return Autotuned(kernel, list(dict.fromkeys(named)), key, restore_value)

    return decorate
