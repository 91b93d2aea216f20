"""Mutations of a parsed module: operands, results, attributes, and ops removed, duplicated or moved."""

import re
from random import Random
from typing import Any

from mlir_smem.bindings import ir
from mlir_smem.ir.walk import walk

from .contexts import try_parse
from .seeds import draw_seed, pool
from .text import ELEMENTS, draw_number

_NUMBER = re.compile(r"-?\b\d+\b")


def mutate(random: Random, module: Any) -> None:
    """Change a module in one or a few places; it may violate any rule then."""
    for _ in range(1 + min(int(random.expovariate(0.8)), 3)):
        ops = [op for op in walk(module) if op.name != "builtin.module"]
        if ops:
            random.choice(_MUTATIONS)(random, random.choice(ops), ops)


def _replace_operand(random: Random, op: Any, ops: list[Any]) -> None:
    """Use another value, usually one of the same type."""
    if not len(op.operands):
        return
    position = random.randrange(len(op.operands))
    values = _values(ops)
    if random.random() < 0.8:
        values = [value for value in values if value.type == op.operands[position].type]
    if values:
        op.operands[position] = random.choice(values)


def _values(ops: list[Any]) -> list[Any]:
    results = [result for op in ops for result in op.results]
    blocks = (block for op in ops for region in op.regions for block in region.blocks)
    return results + [argument for block in blocks for argument in block.arguments]


def _remove(random: Random, op: Any, ops: list[Any]) -> None:
    """Remove an op; its users use other values of the same types."""
    inside = list(walk(op))
    others = [candidate for candidate in ops if candidate not in inside]
    for result in op.results:
        same = [value for value in _values(others) if value.type == result.type]
        same = [value for value in same if value != result]
        if same:
            result.replace_all_uses_with(random.choice(same))
        elif list(result.uses):
            return
    users = {use.owner for value in _values(inside) for use in value.uses}
    if all(user in inside for user in users):
        _erase(op)


def _erase(op: Any) -> None:
    """Erase an op whose regions may use values of each other, which `erase` alone frees too early."""
    # A region drops all of its uses before it frees any of its ops.
    discarded = ir.Module.create(loc=op.location)
    op.detach_from_parent()
    discarded.body.append(op)


def _duplicate(random: Random, op: Any, ops: list[Any]) -> None:
    """Duplicate an op."""
    op.clone(ip=ir.InsertionPoint(op))


def _move(random: Random, op: Any, ops: list[Any]) -> None:
    """Move an op before or after another."""
    other = random.choice(ops)
    if other in list(walk(op)):
        return
    (op.move_before if random.random() < 0.5 else op.move_after)(other)


def _change_attribute(random: Random, op: Any, ops: list[Any]) -> None:
    """Remove an attribute, or change its value."""
    names = [named.name if hasattr(named, "name") else named for named in op.attributes]
    if not names:
        return
    name = random.choice(names)
    if random.random() < 0.2:
        del op.attributes[name]
        return
    try:
        text = str(op.attributes[name])
    except TypeError:
        # The bindings have no class for the attribute.
        return
    numbers = list(_NUMBER.finditer(text))
    if numbers and random.random() < 0.8:
        match = random.choice(numbers)
        new = draw_number(random, int(match[0]))
        text = f"{text[: match.start()]}{new}{text[match.end() :]}"
    else:
        text = random.choice(_VALUES)
    _set_attribute(op, name, text)


#: Attributes of every class.
_VALUES = (
    "unit", "true", "0 : i32", "0 : i64", "1 : index", "-1 : i32", "1.0 : f32", '""', '"128B"', '"k"',
    '"row-major"', "array<i64>", "array<i64: 0, 0>", "array<i32: 1, 1>", "array<i64: 1, 2, 3>", "[]",
    "{}", "i32", "@f", "dense<0> : tensor<2xi64>", "#smem.auto", "#gpu.address_space<workgroup>",
    "affine_map<(d0) -> (d0)>",
)  # fmt: skip

_ENTRY = re.compile(r"(\w[\w.]*) = ((?:[^,{}<>\"]|<[^<>]*>|\"[^\"]*\")+)")


def _add_attribute(random: Random, op: Any, ops: list[Any]) -> None:
    """Add an attribute that other ops have."""
    name, text = random.choice(pool(_ENTRY.pattern))
    _set_attribute(op, name, text.strip())


def _set_attribute(op: Any, name: str, text: str) -> None:
    try:
        op.attributes[name] = ir.Attribute.parse(text)
    except (ir.MLIRError, ValueError, TypeError):
        # Not every number fits its type, and the bindings cannot make every attribute.
        return


def _change_type(random: Random, op: Any, ops: list[Any]) -> None:
    """Change the type of a value: to that of another value, or to another number or element type."""
    values = _values([op])
    if not values:
        return
    value = random.choice(values)
    if random.random() < 0.3:
        value.set_type(random.choice(_values(ops)).type)
        return
    text = str(value.type)
    if random.random() < 0.6:
        text = re.sub(r"\d+(?=x)", lambda m: str(draw_number(random, int(m[0]))), text, count=1)
    else:
        text = re.sub(r"(?<=x)[a-z]\w*(?=[>,])", lambda _: random.choice(ELEMENTS), text, count=1)
    try:
        value.set_type(ir.Type.parse(text))
    except (ir.MLIRError, ValueError):
        return


def _move_into_region(random: Random, op: Any, ops: list[Any]) -> None:
    """Move an op into the block of another region."""
    blocks = [block for parent in ops for region in parent.regions for block in region.blocks]
    inside = {block for parent in walk(op) for region in parent.regions for block in region.blocks}
    blocks = [block for block in blocks if block not in inside and len(block.operations)]
    if blocks:
        op.move_before(random.choice(blocks).operations[0].operation)


def _insert_from_another_module(random: Random, op: Any, ops: list[Any]) -> None:
    """Insert an op of another module; its operands become values of their types."""
    module = try_parse(draw_seed(random))
    if module is None:
        return
    # A branch would target the other module.
    candidates = [
        op for op in walk(module) if op.name != "builtin.module" and not len(op.successors)
    ]
    values = _values(ops)
    if not (candidates and values):
        return
    clone = random.choice(candidates).clone(ip=ir.InsertionPoint(op))
    clone_values = _values(list(walk(clone)))
    for inner in walk(clone):
        for position, operand in enumerate(inner.operands):
            if operand not in clone_values:
                same = [value for value in values if value.type == operand.type] or values
                inner.operands[position] = random.choice(same)


_MUTATIONS = (
    *(_replace_operand, _remove, _duplicate, _move, _change_attribute) * 3,
    *(_add_attribute, _change_type, _move_into_region, _insert_from_another_module),
)
