"""Every builder is called, builds its op and nothing else, and kernels of them compile."""

from types import SimpleNamespace

import pytest
from builder_calls import PARTITIONS, builders, calls
from builder_kernels import KERNELS, built

import mlir_smem
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir

#: What the index arguments of builders become, and what begins and ends kernels.
AROUND = {
    "arith.constant",
    "arith.addf",
    "builtin.module",
    "gpu.barrier",
    "gpu.func",
    "gpu.module",
    "gpu.return",
    "memref.get_global",
    "memref.global",
}


@pytest.fixture(autouse=True)
def context():
    with new_context() as made:
        yield made


def recorded(called):
    """The builders, of which those that are called are noted."""

    def noting(name, build):
        def call(*given, **named):
            called.add(name)
            return build(*given, **named)

        return call

    return SimpleNamespace(**{name: noting(name, build) for name, build in builders().items()})


def names_in(op):
    """The names of an op and of all in it."""
    found = []
    op.operation.walk(lambda inner: found.append(inner.name) or ir.WalkResult.ADVANCE)
    return found


def test_kernels_call_every_builder():
    called = set()
    for name in KERNELS:
        assert built(name, recorded(called)).operation.verify()
    assert called == set(builders())


@pytest.mark.parametrize("name", KERNELS)
def test_building_leaves_nothing_else(name):
    module = built(name, SimpleNamespace(**builders()))
    names = names_in(module)
    assert names.count("builtin.module") == 1
    assert {n for n in names if not n.startswith("smem.")} <= AROUND


@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel[1]])
def test_kernels_compile(name):
    module = built(name, SimpleNamespace(**builders()))
    compiled = mlir_smem.compile(module, arch=KERNELS[name][1], emit="ptx")
    assert f".entry {name}(" in compiled.ptx


@pytest.mark.parametrize("name", builders())
def test_a_builder_builds_its_op_alone(name):
    """Beside constants for the numbers among its index arguments."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        known = calls()
        before = names_in(module)
        given = known[name]
        builders()[name](*(PARTITIONS if name == "partitions" else ()), **given)
    after = names_in(module)
    for each in before:
        after.remove(each)
    inner = {
        "elect": ["smem.tma_commit"],
        "map": ["arith.addf", "smem.yield"],
        "partitions": ["smem.partition"] * 2,
    }.get(name, [])
    assert sorted(n for n in after if n != "arith.constant") == sorted([f"smem.{name}", *inner])
