"""The order of a launch among the work of the library that an array belongs to.

PyTorch and CuPy have a current stream. JAX exposes no streams, so a launch waits for JAX's arrays before
it, and JAX must wait for the launch after it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

#: Packages of JAX's arrays.
_JAX = ("jax", "jaxlib")


def library(array: Any) -> str:
    """Return the top-level package of an array's type."""
    return type(array).__module__.partition(".")[0]


def current_stream(array: Any) -> int | None:
    """Return the current stream of the array's library; None for the legacy default stream."""
    cls = type(array)
    stream_of = _BY_CLASS[cls] if cls in _BY_CLASS else _find(array)
    return stream_of(array) if stream_of else None


def wait_for(array: Any) -> None:
    """Wait until an array is computed, if its library does not expose its streams."""
    if exposes_no_stream(array):
        array.block_until_ready()


def finish(array: Any) -> None:
    """Wait for a launch that wrote an array of a library that does not expose its streams."""
    if exposes_no_stream(array):
        from cuda.core import LEGACY_DEFAULT_STREAM  # pyright: ignore[reportAttributeAccessIssue]

        LEGACY_DEFAULT_STREAM.sync()


def exposes_no_stream(array: Any) -> bool:
    """Return whether an array belongs to JAX, whose arrays are computed on streams that it hides."""
    return library(array) in _JAX


def _torch_stream(tensor: Any) -> int | None:
    torch = sys.modules["torch"]
    # The stream's handle alone, as Inductor's and Triton's launchers read it: `current_stream` makes an
    # object. It is PyTorch's own name, so it may be missing.
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:
        return raw(tensor.device.index) or None
    return torch.cuda.current_stream(tensor.device).cuda_stream or None


def _cupy_stream(_: Any) -> int | None:
    return sys.modules["cupy"].cuda.get_current_stream().ptr or None


#: The function for each class of arrays; None for libraries without a current stream.
_BY_CLASS: dict[type, Callable[[Any], int | None] | None] = {}


def _find(array: Any) -> Callable[[Any], int | None] | None:
    packages = {base.__module__.partition(".")[0] for base in type(array).__mro__}
    stream_of = None
    if "torch" in packages:
        stream_of = _torch_stream
    elif "cupy" in packages:
        stream_of = _cupy_stream
    _BY_CLASS[type(array)] = stream_of
    return stream_of
