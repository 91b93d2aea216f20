"""Layers of PyTorch, which must be installed."""

from copy import deepcopy

import torch
from torch import nn

F, bf16 = nn.functional, torch.bfloat16

#: Of the largest element: PyTorch rounds to bf16 between products and what follows.
BOUND = 2**-6


class Layer(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width=64, heads=2, hidden=128):
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = nn.LayerNorm(width, dtype=bf16), nn.LayerNorm(width, dtype=bf16)
        self.qkv = nn.Linear(width, 3 * width, dtype=bf16)
        self.out = nn.Linear(width, width, dtype=bf16)
        self.up = nn.Linear(width, hidden, dtype=bf16)
        self.down = nn.Linear(hidden, width, dtype=bf16)

    def forward(self, x):
        batch, seq, width = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, seq, 3, self.heads, width // self.heads)
        y = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4), is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def gradients(function, layer, x):
    """The gradients of a layer's parameters, computed through a function of x."""
    layer.zero_grad()
    function(x).double().square().sum().backward()
    return [parameter.grad.double() for parameter in layer.parameters()]


def check_gradients(compiled, layer, x):
    """Check that gradients through a compiled layer are about as near to float64's as those through the
    layer itself."""
    exact = deepcopy(layer).double()
    for gradient, eager, expected in zip(
        gradients(compiled, layer, x),
        gradients(layer, layer, x),
        gradients(exact, exact, x.double()),
        strict=True,
    ):
        assert (gradient - expected).norm() <= 2 * (eager - expected).norm()


def check(actual, expected):
    """Compare tensors."""
    difference = (actual.double() - expected.double()).abs().max()
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    assert difference <= BOUND * expected.double().abs().max()
