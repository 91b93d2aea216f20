"""`attention(q, k, v)`: on a GPU, or on the emulator; in a graph of PyTorch, as its op."""

from __future__ import annotations

import sys
from typing import Any

from ...errors import ProblemError
from ..generator.config import Config
from .checked import AttentionOptions
from .descale import separate_factors
from .emulated import emulate
from .launch import launch
from .operands import AttentionArrays

#: What the kernel is launched on.
_MACHINES = ("gpu", "cpu")


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    window: tuple[int | None, int | None] | None = None,
    layout: str = "bshd",
    out: Any = None,
    return_lse: bool = False,
    cu_seqlens_q: Any = None,
    cu_seqlens_k: Any = None,
    max_seqlen_q: int | None = None,
    q_descale: Any = None,
    k_descale: Any = None,
    v_descale: Any = None,
    config: Config | None = None,
    stream: Any = None,
    on: str = "gpu",
) -> Any:
    """Return `softmax(scale * q @ k.T) @ v` for each head.

    q is (batch, sequence, heads, dim), or by `layout="bhsd"` (batch, heads, sequence, dim); k and v may
    have another length, and fewer heads, which divide those of q: consecutive heads of q share one of k
    and v. The element types are bf16, f16 and e4m3, and dim is 64, 96, 128, 192 or 256. Products are
    summed in f32, and weights are rounded to the element type before they are multiplied by v.

    Elements of e4m3 stand for numbers that are larger or smaller by a factor: `q_descale`, `k_descale`
    and `v_descale`, as FlashAttention names them. The result is of bf16. Tensor cores read e4m3 along the
    keys of v only, so v is transposed first, by a launch of its own.

    Masks are aligned to the end of the keys, as FlashAttention's: the query at place i of M sees the keys
    up to i + N - M + right, and from i + N - M - left on. A query that sees no key has the result 0.

    Sequences of different lengths are packed: with `cu_seqlens_q`, `cu_seqlens_k` and `max_seqlen_q`, as
    FlashAttention names them, arrays are (tokens, heads, dim), by `layout="bhsd"` (heads, tokens, dim),
    and each sequence of tokens attends to its own keys. What `cu_seqlens` hold on a GPU is not checked. A
    value that is NaN or infinite also reaches the sequence before its own, whose last block reads it
    with the weight 0; of e4m3 also the one behind, whose first block begins at a multiple of 16 tokens.

    Few queries of heads that share keys are packed along M, where 2, 4 or 8 divides the number of these
    heads: the keys are read once for all of them.

    TMA reads the arrays, so dim is contiguous, and the address and the other strides are multiples of 16
    bytes.

    In a graph of `torch.compile` or `torch.export` the call is the op `mlir_smem::attention`.

    Args:
        q, k, v: arrays of PyTorch, CuPy or JAX on one GPU; with `on="cpu"` of NumPy, PyTorch or JAX in
            host memory.
        causal: whether right is 0.
        scale: a positive number; None for dim ** -0.5.
        window: (left, right): how many keys a query sees before and behind its place; None for all.
        layout: "bshd" or "bhsd", of all arrays.
        out: the result; None for a new array of the layout.
        return_lse: whether the result is a tuple. Its second array (batch, heads, sequence) of f32 has
            the natural logarithm of each query's sum of exponentials, -inf where it sees no key. It is
            (heads, tokens) of packed sequences.
        cu_seqlens_q, cu_seqlens_k: vectors of i32 with the first token of each sequence of queries and of
            keys, and the number of tokens behind the last one.
        max_seqlen_q: how many queries no sequence has more of.
        q_descale, k_descale, v_descale: the factors of q, k and v of e4m3: a number, or an array of f32
            (batch, heads of k); None for 1.
        config: the kernel's configuration; None for `default_config`.
        stream: as for `Prepared.launch`; the library's current stream if None.
        on: "gpu", or "cpu" for the emulator.

    Raises:
        ProblemError, ConfigError: for arrays that do not go together or that no kernel reads, and for a
            configuration that does not fit.
        LaunchError: without a GPU of the architecture.
        ValueError: for an unknown machine.

    Example:
        >>> import ml_dtypes
        >>> q = k = v = np.ones((1, 80, 2, 64), ml_dtypes.bfloat16)
        >>> float(attention(q, k, v, causal=True, on="cpu")[0, 79, 1, 63])
        1.0
    """
    if on not in _MACHINES:
        raise ValueError(f"unknown machine '{on}'; expected {' or '.join(_MACHINES)}")
    all_arrays = AttentionArrays(
        q, k, v, cu_seqlens_q, cu_seqlens_k, q_descale, k_descale, v_descale, out
    )
    arrays, factors = separate_factors(all_arrays)
    options = AttentionOptions(
        causal, scale, window, layout, return_lse, max_seqlen_q, config, factors
    )
    torch = sys.modules.get("torch")
    if torch is not None and torch.compiler.is_compiling():
        if not (out is None and config is None and stream is None):
            raise ProblemError("out, config and stream are not taken in a graph of torch.compile")
        from .torch_op import call_op

        output, lse = call_op(arrays, options, on)
    elif on == "cpu":
        output, lse = emulate(arrays, options)
    else:
        output, lse = launch(arrays, options, stream)
    return (output, lse) if return_lse else output
