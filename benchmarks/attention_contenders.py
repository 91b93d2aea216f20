"""Contenders of `benchmarks/attention.py`: ours, cuDNN, FlashAttention-3 and FlashAttention-4."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from attention_cases import Case, Operands

from mlir_smem.kernels.attention import Config, attention, tune

#: A function of queries, keys and values that returns the result (batch, sequence, heads, dim).
Call = Callable[[Operands], torch.Tensor]

#: Contenders by the names of their families.
NAMES = ("ours", "cuDNN", "FA3", "FA4")

#: Queries of a step of decoding.
_FEW = 16


def calls(
    case: Case, names: list[str], configs: list[Config], tuned: float | None = None
) -> Iterator[tuple[str, Call]]:
    """Yield the names and functions of installed contenders.

    Args:
        case: the problem.
        names: the families.
        configs: further configurations of ours.
        tuned: the seconds of a search for one more; None for no search.
    """
    if "ours" in names:
        yield "ours", _ours(case, None)
        for config in configs:
            name = f"ours {config.consumers}x{config.keys}x{config.stages}"
            yield name, _ours(case, config)
        if tuned is not None:
            settings = {"causal": case.causal, "budget": tuned, "progress": False}
            yield "ours tuned", _ours(case, tune(*case.operands(), **settings))
    for name, make in (("cuDNN", _cudnn), ("FA3", _fa3), ("FA4", _fa4)):
        if name in names:
            try:
                yield name, make(case)
            except ImportError as error:
                print(f"left out: {name}: {error}")


def _ours(case: Case, config: Config | None) -> Call:
    return lambda operands: attention(*operands, causal=case.causal, config=config)


def _cudnn(case: Case) -> Call:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    def call(operands: Operands) -> torch.Tensor:
        if case.causal and case.queries != case.keys:
            raise NotImplementedError("the mask of PyTorch ends with the first keys")
        q, k, v = (operand.transpose(1, 2) for operand in operands)
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            output = scaled_dot_product_attention(
                q, k, v, is_causal=case.causal, enable_gqa=case.heads != case.groups
            )
        return output.transpose(1, 2)

    return call


def _fa3(case: Case) -> Call:
    import fa3_fwd_interface as fa3

    if case.queries <= _FEW:
        # The interface for caches splits the keys among blocks, and packs heads that share them.
        return lambda operands: fa3.flash_attn_with_kvcache(*operands, causal=case.causal)

    def call(operands: Operands) -> torch.Tensor:
        output = fa3.flash_attn_func(*operands, causal=case.causal)
        return output[0] if isinstance(output, tuple) else output

    return call


def _fa4(case: Case) -> Call:
    from flash_attn.cute.interface import flash_attn_func

    def call(operands: Operands) -> torch.Tensor:
        output = flash_attn_func(*operands, causal=case.causal)
        return output[0] if isinstance(output, tuple) else output

    return call
