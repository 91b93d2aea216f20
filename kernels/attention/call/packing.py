"""Packed sequences, which follow each other in arrays, with FlashAttention's names of their begins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....runtime import device_array
from ....runtime.arrays import host_array
from ...errors import ProblemError

_NAMES = ("cu_seqlens_q", "cu_seqlens_k")


class Packing(NamedTuple):
    """Packed sequences, as a caller gives them.

    Attributes:
        queries, keys: arrays of i32 with the begin of each sequence, and the end of the last one.
        longest: an upper bound of the queries of a sequence.
    """

    queries: Any
    keys: Any
    longest: int

    @property
    def sequences(self) -> int:
        """Their number."""
        return len(self.queries) - 1

    def on_device(self, device: int) -> list[Any]:
        """Return the kernel's arguments: the arrays in the memory of a GPU, and `longest`.

        What the arrays hold is not read.

        Raises:
            ProblemError: for arrays of another type, of other shapes, or of another GPU.
            LaunchError: for arrays that are in no GPU's memory.
        """
        read = [device_array(name, array) for name, array in self._named_arrays]
        for (name, _), array in zip(self._named_arrays, read, strict=True):
            self._check(name, array.matrix.shape, array.matrix.strides, array.element)
            if array.device != device:
                raise ProblemError(
                    f"q is on GPU {device}, but {name} is on GPU {array.device}; expected one"
                )
        return [*(array.matrix for array in read), self.longest]

    def on_host(self, tokens: tuple[int, int]) -> list[Any]:
        """Return the kernel's arguments: the arrays in host memory, and `longest`.

        Args:
            tokens: how many queries and keys there are.

        Raises:
            ProblemError: for arrays of another type or shape, and for lengths that do not fit.
        """
        starts: list[Any] = []
        for (name, argument), end in zip(self._named_arrays, tokens, strict=True):
            array, element = host_array(name, argument)
            strides = tuple(stride // array.itemsize for stride in array.strides)
            self._check(name, array.shape, strides, element)
            lengths = np.diff(array)
            if array[0] != 0 or array[-1] != end or (lengths < 0).any():
                raise ProblemError(
                    f"{name} is {array.tolist()}; expected to begin with 0, to fall nowhere, and to end "
                    f"with {end}, as many tokens as {name[-1]} has"
                )
            starts.append(array)
        longest = int(np.diff(starts[0]).max())
        if longest > self.longest:
            raise ProblemError(
                f"max_seqlen_q is {self.longest}, but cu_seqlens_q has a sequence of {longest} queries"
            )
        return [*starts, self.longest]

    @property
    def _named_arrays(self) -> list[tuple[str, Any]]:
        return list(zip(_NAMES, self[:2], strict=True))

    def _check(
        self, name: str, shape: tuple[int, ...], strides: tuple[int, ...], element: str
    ) -> None:
        expected = (len(self.queries),)
        if shape != expected or strides != (1,) or shape[0] < 2 or element != "i32":
            raise ProblemError(
                f"{name} has the shape {list(shape)} of {element}, with strides of {list(strides)}; "
                f"expected a contiguous vector of i32, of {max(expected[0], 2)} elements as "
                "cu_seqlens_q, one more than there are sequences"
            )


def packing_of(cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: object) -> Packing | None:
    """Return the packed sequences of a call's arguments; None if it has batches.

    Raises:
        ProblemError: if some of the arguments are missing, or `max_seqlen_q` is no number of queries.
    """
    arguments = {
        "cu_seqlens_q": cu_seqlens_q,
        "cu_seqlens_k": cu_seqlens_k,
        "max_seqlen_q": max_seqlen_q,
    }
    missing = [name for name, argument in arguments.items() if argument is None]
    if len(missing) == len(arguments):
        return None
    if missing:
        raise ProblemError(
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; packed sequences "
            "need cu_seqlens_q, cu_seqlens_k and max_seqlen_q"
        )
    for name in _NAMES:
        # Arrays without dimensions have no length either.
        try:
            len(arguments[name])  # type: ignore[arg-type]
        except TypeError:
            raise ProblemError(f"{name} is {arguments[name]!r}; expected a vector of i32") from None
    if not isinstance(max_seqlen_q, int) or max_seqlen_q < 1:
        raise ProblemError(f"max_seqlen_q is {max_seqlen_q!r}; expected 1 or more")
    return Packing(cu_seqlens_q, cu_seqlens_k, max_seqlen_q)
