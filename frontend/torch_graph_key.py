"""What an exported graph of PyTorch becomes in linalg depends on."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

#: Ops that make a tensor of numbers in the function's source.
_FRESH_LITERALS = ("aten.lift_fresh_copy.default", "aten.lift_fresh.default")


def graph_key(torch: Any, program: Any) -> tuple[Any, ...]:
    """Return all that linalg of an exported program depends on, but for the versions of packages.

    Args:
        torch: the package.
        program: the program of `torch.export`.
    """
    modules = [part for part in program.graph_module.modules() if hasattr(part, "graph")]
    literals = {
        spec.target: _digest(torch, program.constants[spec.target])
        for spec in program.graph_signature.input_specs
        if spec.arg.name in {node.name for node in literal_nodes(program)}
    }
    return (
        [str(part.graph) for part in modules],
        [_value(torch, node.meta.get("val")) for part in modules for node in part.graph.nodes],
        literals,
        repr(program.graph_signature),
        repr(program.range_constraints),
        str(torch.get_default_dtype()),
    )


def literal_nodes(program: Any) -> Iterator[Any]:
    """Yield the placeholders of tensors that the function makes of numbers."""
    # `torch.export` lifts them to inputs, as it does tensors that the function captures.
    kinds = {spec.arg.name: spec.kind.name for spec in program.graph_signature.input_specs}
    for node in program.graph.nodes:
        if (
            node.op == "placeholder"
            and kinds[node.name] != "USER_INPUT"
            and all(str(user.target) in _FRESH_LITERALS for user in node.users)
        ):
            yield node


def _value(torch: Any, value: Any) -> Any:
    """Return the type of a node's value: that of each tensor, and other values as text."""
    if isinstance(value, torch.Tensor):
        return str((value.dtype, value.device.type, tuple(value.shape), value.stride()))
    if isinstance(value, list | tuple):
        return [_value(torch, item) for item in value]
    return str(value)


def _digest(torch: Any, tensor: Any) -> str:
    """Return a digest of a tensor's elements."""
    raw = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return sha256(raw.numpy().tobytes()).hexdigest()
