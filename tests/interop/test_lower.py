"""Modules of other bindings packages: lowered as ours, returned as theirs, or refused in one sentence."""

from pathlib import Path

import pytest
from foreign import PACKAGES, new_context, parse_in
from programs import PRODUCT, kernel, module, tile

import mlir_smem
from mlir_smem.bindings import PACKAGE
from mlir_smem.bindings.mlir import ir as our_ir
from mlir_smem.bindings.packages import package_of
from mlir_smem.interop import ExchangeError, exchange, lower
from mlir_smem.passes import OptionError

EXAMPLES = Path(__file__).parents[2] / "examples"

each_package = pytest.mark.parametrize("package", [*PACKAGES, PACKAGE])
each_other = pytest.mark.parametrize("package", PACKAGES)


def example(name):
    return (EXAMPLES / f"{name}.mlir").read_text()


def ops(op):
    yield op.operation.name
    for region in op.operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from ops(inner)


def message_of(call, error=ExchangeError):
    with pytest.raises(error) as raised:
        call()
    assert "\n" not in str(raised.value)
    return str(raised.value)


@each_package
@pytest.mark.parametrize("name", ["mma", "matmul", "attention"])
def test_examples_are_lowered_in_the_context_of_the_host(package, name):
    theirs = parse_in(package, example(name))
    before = str(theirs)
    lowered = lower(theirs)
    assert lowered.operation.verify()
    assert (package_of(lowered), lowered.context) == (package, theirs.context)
    names = list(ops(lowered))
    assert not any(op.startswith("smem.") for op in names)
    assert any(op.startswith(("nvvm.wgmma", "llvm.inline_asm")) for op in names)
    assert str(theirs) == before


@each_package
@pytest.mark.parametrize("name", ["mma", "attention"])
def test_the_code_of_a_host_is_that_of_the_text(package, name):
    theirs = parse_in(package, example(name))
    expected = mlir_smem.compile(example(name), emit="ptx").ptx
    assert mlir_smem.compile(theirs, emit="ptx").ptx == expected
    assert mlir_smem.compile(lower(theirs), emit="ptx").ptx == expected


@each_other
def test_blackwell(package):
    theirs = parse_in(package, module(kernel(PRODUCT)))
    lowered = lower(theirs, "builtin.module(smem-to-nvvm{arch=sm_100})")
    assert any(op.startswith("nvvm.tcgen05") for op in ops(lowered))


@each_package
def test_locations_survive(package):
    text = module(kernel(PRODUCT + '"host.mark"() : () -> () loc("host.py":7:3)'))
    lowered = lower(parse_in(package, text))
    marks = []

    def find(op):
        for region in op.operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    if inner.operation.name == "host.mark":
                        marks.append(str(inner.operation.location))
                    find(inner)

    find(lowered)
    assert marks == ['loc("host.py":7:3)']


@each_package
def test_ops_of_the_host_pass_through(package):
    text = module(kernel(PRODUCT + '"host.op"() <{a = 1 : i32}> {b = "x"} : () -> ()'))
    printed = lower(parse_in(package, text)).operation.get_asm(print_generic_op_form=True)
    assert '"host.op"() <{a = 1 : i32}> {b = "x"} : () -> ()' in printed


@each_package
def test_a_pipeline_of_ours_and_upstreams(package):
    theirs = parse_in(package, example("mma"))
    both = lower(theirs, "builtin.module(smem-to-nvvm,gpu.module(canonicalize,cse))")
    assert list(ops(both)).count("arith.constant") < list(ops(lower(theirs))).count(
        "arith.constant"
    )


@each_package
def test_a_part_of_the_lowering(package):
    lowered = lower(parse_in(package, example("mma")), "smem-assign-layouts")
    assert "Swizzle<3,4,3>" in str(lowered)
    again = lower(lowered)
    assert not any(op.startswith("smem.") for op in ops(again))


# What is refused.


@each_package
def test_a_wrong_program_is_refused_at_its_location(package):
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":7:3)'))
    with pytest.raises(our_ir.MLIRError, match=r"\"host.py\":7:3: 'smem.alloc' op has no layout"):
        lower(parse_in(package, text))


@each_package
def test_a_wrong_op_is_refused_at_its_location(package):
    text = module(kernel('"smem.wait"() {pending = 0 : i32} : () -> () loc("host.py":7:3)'))
    theirs = parse_in(package, text)
    with pytest.raises(our_ir.MLIRError, match=r'"host\.py":7:3: op expects exactly 1 operands'):
        lower(theirs)


@each_other
def test_what_the_pipeline_leaves_needs_a_context_for_it(package):
    # `smem` needs no unregistered dialects in a module without it.
    theirs = parse_in(package, "module {}", allow_unregistered=False)
    assert str(lower(theirs)) == str(theirs)
    with_fence = parse_in(package, module(kernel('"smem.fence"() : () -> () loc("host.py":7:3)')))
    with_fence.context.allow_unregistered_dialects = False
    message = message_of(lambda: lower(with_fence, "smem-assign-layouts"))
    assert message.startswith(
        f"the pipeline leaves 'smem.fence' at loc(\"host.py\":7:3), which {package}"
    )
    assert message.endswith("reads only in a context with allow_unregistered_dialects")


@each_other
def test_an_alias_within_a_type_of_smem(package):
    message = message_of(lambda: lower(parse_in(package, example("nvfp4"))))
    assert message.startswith(f"{PACKAGE} (LLVM ")
    assert f"cannot read what {package} (LLVM " in message
    assert "undefined symbol alias id 'element' (aliases within types of smem stay" in message
    assert 'in %11 = "smem.alloc"()' in message


@pytest.mark.skipif(
    PACKAGE != "torch_mlir", reason="the forms that are tried depend on the versions"
)
@each_other
def test_an_attribute_that_the_other_side_would_lose_is_named(package, monkeypatch):
    monkeypatch.setattr(exchange, "_attribute_names", losing("gpu.func", "known_block_size"))
    monkeypatch.setattr(exchange, "_read_back", lambda read, writer: None)
    message = message_of(lambda: lower(parse_in(package, example("mma"))))
    assert message.startswith(f"{PACKAGE} (LLVM ")
    assert ") would lose the attribute 'known_block_size' of 'gpu.func' at loc(" in message
    assert f", which {package} (LLVM " in message


def losing(op_name, attribute):
    """The names of an op's attributes; the bindings of mlir_smem do not have one of them."""
    names = exchange._attribute_names

    def without(op):
        present = names(op)
        ours = package_of(op) == PACKAGE and op.operation.name == op_name
        return present - {attribute} if ours else present

    return without


def test_a_default_that_only_the_writer_has_is_not_lost():
    # jaxlib's LLVM has no `tls_mode` of llvm.mlir.global, which ours prints with its default.
    lowered = lower(parse_in("jaxlib.mlir", example("mma")))
    assert lowered.operation.verify()


@each_other
def test_an_op_that_their_version_lacks_is_refused(package):
    # The op exists in no version; the dialect is known to both.
    text = '"builtin.module"() ({ "host.x"() : () -> () }) : () -> ()'
    theirs = parse_in(package, text)
    side = exchange.BindingsContext.of(theirs)
    theirs.context.allow_unregistered_dialects = False
    message = message_of(lambda: exchange.exchange(theirs, side))
    assert message.startswith(f"{package} (LLVM ")
    assert "cannot read what" in message
    assert "unregistered" in message
    assert "host.x" in message


@pytest.mark.parametrize("argument", [None, 3, "module {}", pytest.param(object(), id="given3")])
def test_modules_are_modules(argument):
    message = message_of(lambda: lower(argument), TypeError)
    assert message.startswith("mlir_smem.interop.lower: module is ")
    assert message.endswith("; expected an ir.Module of any MLIR bindings package")


@each_other
def test_an_op_that_is_no_module_is_refused(package):
    function = parse_in(package, "func.func private @f()").body.operations[0]
    message = message_of(lambda: lower(function), TypeError)
    assert message.startswith("mlir_smem.interop.lower: module is ")


@each_other
def test_a_wrong_pipeline_is_refused(package):
    with pytest.raises(OptionError, match="no pass is named 'smem-nothing'"):
        lower(parse_in(package, "module {}"), "smem-nothing")


@each_package
def test_the_version_of_llvm_is_that_of_bytecode(package):
    new_context(package)
    version = exchange.llvm_version(package)
    assert version is not None
    assert version >= 22
