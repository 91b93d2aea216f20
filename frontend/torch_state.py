"""The tensors of a module of PyTorch: parameters, buffers, and other tensors that are its attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..codegen import CompileError

#: Attributes of every module with its parameters, buffers and submodules.
_CONTAINERS = ("_parameters", "_buffers", "_modules")


class ModuleState:
    """The tensors of a module; none for a function.

    Args:
        torch: the package.
        module: the module or function.

    Attributes:
        tensors: the tensors by name, each once.
        names: for each name of a tensor, the tensor's name in `tensors`: a tensor may have several.
    """

    def __init__(self, torch: Any, module: Any) -> None:
        self._tensor_type = torch.Tensor
        self._module = module if isinstance(module, torch.nn.Module) else None
        self.tensors: dict[str, Any] = {}
        self.names: dict[str, str] = {}
        first: dict[int, str] = {}
        slots: set[tuple[int, str]] = set()
        for name, tensor in self._named_tensors():
            owner, attribute = self._owner(name)
            # A submodule may occur twice in the module.
            if (id(owner), attribute) in slots:
                continue
            slots.add((id(owner), attribute))
            self.names[name] = first.setdefault(id(tensor), name)
            self.tensors.setdefault(first[id(tensor)], tensor)

    def _named_tensors(self) -> Iterator[tuple[str, Any]]:
        if self._module is None:
            return
        yield from self._module.named_parameters(remove_duplicate=False)
        yield from self._module.named_buffers(remove_duplicate=False)
        for prefix, part in self._module.named_modules():
            for name, value in vars(part).items():
                if isinstance(value, self._tensor_type):
                    yield f"{prefix}.{name}" if prefix else name, value

    def get(self, name: str) -> Any:
        """Return the tensor that a name is bound to now."""
        owner, attribute = self._owner(name)
        return getattr(owner, attribute)

    def set(self, name: str, tensor: Any) -> None:
        """Bind a name to another tensor."""
        owner, attribute = self._owner(name)
        setattr(owner, attribute, tensor)

    def _owner(self, name: str) -> tuple[Any, str]:
        prefix, _, attribute = name.rpartition(".")
        assert self._module is not None
        return self._module.get_submodule(prefix), attribute

    @contextmanager
    def restore(self) -> Iterator[None]:
        """Restore the module's attributes after the block.

        Raises:
            CompileError: if the block has changed any: calls of the program would not.
        """
        before = self._attributes()
        changed: list[str] = []
        try:
            yield
        finally:
            for part, prefix, attributes in before:
                changed += _restore(part, prefix, attributes)
        if changed:
            raise CompileError(
                f"the module sets {', '.join(changed)} when it is called, and a program sets only "
                "tensors that the module has before; register what changes as a buffer (register_buffer)"
            )

    def _attributes(self) -> list[tuple[Any, str, dict[str, Any]]]:
        """Return each part of the module, its prefix, and copies of its attributes."""
        if self._module is None:
            return []
        return [
            (
                part,
                f"{prefix}." if prefix else "",
                {n: (v, _copy(v)) for n, v in vars(part).items()},
            )
            for prefix, part in self._module.named_modules()
        ]


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, dict | list | set) else value


def _restore(part: Any, prefix: str, before: dict[str, tuple[Any, Any]]) -> list[str]:
    """Restore the attributes of a module, and return the names of changed ones."""
    changed = []
    current = vars(part)
    for name in [*current]:
        if name not in before:
            del current[name]
            changed.append(prefix + name)
    for name, (value, copied) in before.items():
        if name in current and current[name] is value and _same(value, copied):
            continue
        names = [name] if name not in _CONTAINERS else [*{*value, *copied}]
        if name not in _CONTAINERS or current.get(name) is not value:
            changed.append(prefix + name)
        else:
            changed += [prefix + n for n in names if value.get(n) is not copied.get(n)]
        if isinstance(value, dict | list | set):
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(copied)
        current[name] = value
    return changed


def _same(value: Any, copied: Any) -> bool:
    if isinstance(value, dict):
        return list(value) == list(copied) and all(value[key] is copied[key] for key in copied)
    if isinstance(value, list):
        return len(value) == len(copied) and all(map(lambda a, b: a is b, value, copied))
    return not isinstance(value, set) or value == copied
