"""A module of PyTorch lifted for `torch.export`: its tensors are inputs, and aliases are recorded."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from ..codegen import CompileError
from .call_signature import Part, TensorRef
from .torch_state import ModuleState


class LiftedModule:
    """A module lifted to a function of its tensors.

    The first inputs of the lifted module are the tensors of the original. The results are the original's,
    flattened, then the tensors to which the original rebinds attributes.

    Args:
        torch: the package.
        function: a module or a function.
        state: its tensors.

    Attributes:
        module: the module to export.
        out_spec: the tree spec of the result; after the export.
        rebound: the names of rebound attributes.
        aliases: for each result, the tensor of the call that it is or is a view of; the number of an
            earlier result that it is; the part of memory that it shares with others; or None.
        whole: the numbers of the results that are whole tensors of the call.
    """

    def __init__(self, torch: Any, function: Any, state: ModuleState) -> None:
        self._torch, self._function, self._state = torch, function, state
        self._pytree = importlib.import_module("torch.utils._pytree")
        self.out_spec: Any = None
        self.rebound: list[str] = []
        self.aliases: list[TensorRef | Part | int | None] = []
        self.whole: set[int] = set()
        outer = self

        class Lifted(torch.nn.Module):
            def forward(self, *inputs: Any) -> Any:
                return outer._call(inputs)

        self.module = Lifted()

    def examples(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return example inputs of the module to export, none of which shares memory with another.

        `torch.export` would take tensors that share memory for one.
        """
        seen: set[int] = set()

        def apart(leaf: Any) -> Any:
            if not isinstance(leaf, self._torch.Tensor):
                return leaf
            if _memory(leaf) in seen:
                leaf = self._torch.empty_strided(
                    leaf.shape, leaf.stride(), dtype=leaf.dtype, device=leaf.device
                )
            seen.add(_memory(leaf))
            return leaf.detach()

        return self._pytree.tree_map(apart, (*self._state.tensors.values(), *inputs))

    def _call(self, inputs: Sequence[Any]) -> list[Any]:
        names = list(self._state.tensors)
        lifted = dict(zip(names, inputs[: len(names)], strict=True))
        arguments = inputs[len(names) :]
        places = {TensorRef("state", name): tensor for name, tensor in lifted.items()}
        for number, leaf in enumerate(self._pytree.tree_leaves(tuple(arguments))):
            if isinstance(leaf, self._torch.Tensor):
                places[TensorRef("argument", number)] = leaf
        layouts = {p: (tuple(t.shape), t.stride()) for p, t in places.items()}
        if names:
            state_tensors = {name: lifted[first] for name, first in self._state.names.items()}
            state_after = dict(state_tensors)
            result = self._torch.func.functional_call(
                self._function, state_after, arguments, tie_weights=False
            )
        else:
            state_tensors = state_after = {}
            result = self._function(*arguments)
        for place, tensor in places.items():
            _check_layout(place, tensor, *layouts[place])
        leaves, self.out_spec = self._pytree.tree_flatten(result)
        self.rebound = [
            name for name in state_tensors if state_after[name] is not state_tensors[name]
        ]
        for name in self.rebound:
            if not isinstance(state_after[name], self._torch.Tensor):
                raise CompileError(
                    f"the module sets {name} to {state_after[name]!r}; expected a tensor"
                )
        leaves += [state_after[name] for name in self.rebound]
        self._note(leaves, places)
        return leaves

    def _note(self, leaves: Sequence[Any], places: dict[TensorRef, Any]) -> None:
        """Record the alias of each result."""
        bases = {_memory(tensor): place for place, tensor in places.items()}
        self.aliases, self.whole = [], set()
        for number, leaf in enumerate(leaves):
            alias: TensorRef | Part | int | None = None
            if isinstance(leaf, self._torch.Tensor):
                memory = _memory(leaf)
                same = next(i for i, other_leaf in enumerate(leaves) if other_leaf is leaf)
                whole = next((place for place, tensor in places.items() if tensor is leaf), None)
                if whole is not None:
                    alias = whole
                    self.whole.add(number)
                elif same < number:
                    alias = same
                elif memory in bases:
                    alias = bases[memory]
                else:
                    alias = self._part(leaf, leaves)
            self.aliases.append(alias)

    def _part(self, leaf: Any, leaves: Sequence[Any]) -> Part | None:
        """Return the part of memory that a result shares with others.

        None if it shares none, or its extents are dynamic.
        """
        memory = _memory(leaf)
        tensors = [
            other_leaf for other_leaf in leaves if isinstance(other_leaf, self._torch.Tensor)
        ]
        sharing = [other_leaf for other_leaf in tensors if _memory(other_leaf) == memory]
        size = leaf.untyped_storage().nbytes()
        numbers = [size, *leaf.shape, *leaf.stride(), leaf.storage_offset()]
        if all(other_leaf is leaf for other_leaf in sharing) or not all(
            type(n) is int for n in numbers
        ):
            return None
        if any(other_leaf.dtype != leaf.dtype for other_leaf in sharing):
            return None
        if _overlaps(leaf):
            return None
        number = next(i for i, other_leaf in enumerate(leaves) if other_leaf is sharing[0])
        elements = size // leaf.element_size()
        return Part(number, elements, tuple(leaf.shape), leaf.stride(), leaf.storage_offset())


def _check_layout(
    place: TensorRef, tensor: Any, shape: Sequence[int], strides: Sequence[int]
) -> None:
    """Check that a tensor of the call still has its extents and strides.

    Raises:
        CompileError: if an op has changed them in place: a call could not.
    """
    if (tuple(tensor.shape), tensor.stride()) != (shape, strides):
        raise CompileError(
            f"the shape or strides of {place} change in place, from {list(shape)} to "
            f"{list(tensor.shape)}; expected writes of elements alone (t() in the place of t_())"
        )


def _overlaps(tensor: Any) -> bool:
    """Whether elements of a tensor may share memory, other than along a stride of 0."""
    reach = 0
    for stride, extent in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if stride and extent > 1 and stride <= reach:
            return True
        reach += stride * (extent - 1)
    return False


def _memory(tensor: Any) -> int:
    return tensor.untyped_storage()._cdata
