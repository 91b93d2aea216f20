"""Every builder builds its op and nothing else, and kernels built with them compile."""

from types import SimpleNamespace

import pytest
from builder_calls import PARTITIONS, builders, calls
from builder_kernels import KERNELS, build_kernel

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context

#: Ops of other dialects: constants for index arguments, and the kernels around the ops.
OTHER_OPS = {
    "arith.constant",
    "arith.addf",
    "builtin.module",
    "gpu.barrier",
    "gpu.func",
    "gpu.module",
    "gpu.return",
    "gpu.yield",
    "memref.get_global",
    "memref.global",
}


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def recording_builders(called):
    """The builders, wrapped to add their names to `called`."""

    def record_calls(name, build):
        def call(*arguments, **named):
            called.add(name)
            return build(*arguments, **named)

        return call

    return SimpleNamespace(
        **{name: record_calls(name, build) for name, build in builders().items()}
    )


def names_in(op):
    """The names of an op and of all ops nested in it."""
    names = []
    op.operation.walk(lambda inner: names.append(inner.name) or ir.WalkResult.ADVANCE)
    return names


def test_kernels_call_every_builder():
    called = set()
    for name in KERNELS:
        assert build_kernel(name, recording_builders(called)).operation.verify()
    assert called == set(builders())


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_contain_no_other_ops(name):
    module = build_kernel(name, SimpleNamespace(**builders()))
    names = names_in(module)
    assert names.count("builtin.module") == 1
    assert {n for n in names if not n.startswith("smem.")} <= OTHER_OPS


@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel[1]])
def test_kernels_compile(name):
    module = build_kernel(name, SimpleNamespace(**builders()))
    compiled = mlir_smem.compile(module, arch=KERNELS[name][1], emit="ptx")
    assert f".entry {name}(" in compiled.ptx


@pytest.mark.parametrize("name", builders())
def test_a_builder_builds_only_its_op(name):
    """Apart from constants for index arguments that are numbers."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        known = calls()
        before = names_in(module)
        arguments = known[name]
        builders()[name](*(PARTITIONS if name == "warp_specialize" else ()), **arguments)
    after = names_in(module)
    for existing in before:
        after.remove(existing)
    inner = {
        "elect": ["smem.tma_commit"],
        "map": ["arith.addf", "gpu.yield"],
        "warp_specialize": ["smem.partition"] * 2,
    }.get(name, [])
    assert sorted(n for n in after if n != "arith.constant") == sorted([f"smem.{name}", *inner])
