"""Generic-form IR for other versions of LLVM, and back."""

import pytest

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.interop import host_version
from mlir_smem.interop.host_version import (
    HostVersionError,
    bindings_version,
    for_llvm,
    from_llvm,
)

pytestmark = pytest.mark.skipif(
    bindings_version() < 24, reason="the texts are of LLVM 24, which the bindings are not"
)

#: Properties in the form of LLVM 24, and in that of LLVM 22.
PROPERTIES = [
    ("gpu.barrier", "scope = #gpu.barrier_scope<workgroup>", ""),
    (
        "nvvm.barrier",
        "aligned = true, operandSegmentSizes = array<i32: 1, 1>",
        "operandSegmentSizes = array<i32: 1, 1, 0>",
    ),
    (
        "nvvm.tcgen05.mma.block_scale",
        "ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<mxf4>",
        "ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.block_scale_kind<mxf4>",
    ),
    (
        "nvvm.tcgen05.mma.sp.block_scale",
        "kind = #nvvm.tcgen05_mma_kind<mxf8f6f4>",
        "kind = #nvvm.block_scale_kind<mxf8f6f4>",
    ),
    ("llvm.fptrunc", "fastmathFlags = #llvm.fastmath<none>", ""),
    ("llvm.fpext", "fastmathFlags = #llvm.fastmath<nnan, afn>", ""),
]


def op(name, properties):
    """An op in the generic form."""
    dictionary = f" <{{{properties}}}>" if properties else ""
    return f'"{name}"(%0, %1){dictionary} : (i32, i32) -> ()'


FORMS = [(op(name, new), op(name, old)) for name, new, old in PROPERTIES]

#: A default needs no property, and flags may be left out.
DEFAULTED = [form for form in FORMS if "<{" not in form[1]]

SUBGROUP = op("gpu.barrier", "scope = #gpu.barrier_scope<subgroup>")


@pytest.fixture
def newest(monkeypatch):
    """Bindings of LLVM 24, whichever there are."""
    monkeypatch.setattr(host_version, "bindings_version", lambda: 24)


@pytest.mark.parametrize("new, old", FORMS)
def test_forms_for_llvm_22(new, old):
    assert for_llvm(new, 22) == old
    assert for_llvm(f"  %9 = {new} loc(#loc1)\n", 22) == f"  %9 = {old} loc(#loc1)\n"


@pytest.mark.parametrize("new, old", [form for form in FORMS if form not in DEFAULTED])
def test_forms_from_llvm_22(new, old, newest):
    assert from_llvm(old, 22) == new.replace("aligned = true, ", "")


@pytest.mark.parametrize("new, old", FORMS)
def test_nothing_changes_between_equal_versions(new, old, newest):
    assert for_llvm(new, 24) == new
    assert from_llvm(new, 24) == new


def test_llvm_23_has_some_of_the_forms():
    changed = [for_llvm(new, 23) == old for new, old in FORMS]
    assert changed == [True, True, False, False, False, False]


def test_a_barrier_without_its_address_spaces_orders_all_of_them():
    new = (
        '"gpu.barrier"() <{address_spaces = [#gpu.address_space<workgroup>], '
        "scope = #gpu.barrier_scope<workgroup>}> : () -> ()"
    )
    assert for_llvm(new, 22) == '"gpu.barrier"() : () -> ()'
    old = '"gpu.barrier"() <{address_spaces = [#gpu.address_space<workgroup>]}> : () -> ()'
    assert for_llvm(new, 23) == old


#: A kernel with workgroup memory, in the form of LLVM 24 and in that of LLVM 22.
NEW_KERNEL = """\
  "gpu.func"() <{arg_attrs = [{smem.name = "A, kernel, B"}], function_type = (f32) -> (), kernel, \
known_block_size = array<i32: 64, 1, 1>, workgroup_attributions = 1 : i64}> ({
  ^bb0(%arg0: f32, %arg1: memref<4xf32, #gpu.address_space<workgroup>>):
    "gpu.return"() : () -> ()
  }) {sym_name = "k"} : () -> () loc(#loc1)
"""
OLD_KERNEL = """\
  "gpu.func"() <{arg_attrs = [{smem.name = "A, kernel, B"}], function_type = (f32) -> (), \
known_block_size = array<i32: 64, 1, 1>}> ({
  ^bb0(%arg0: f32, %arg1: memref<4xf32, #gpu.address_space<workgroup>>):
    "gpu.return"() : () -> ()
  }) {gpu.kernel, sym_name = "k", workgroup_attributions = 1 : i64} : () -> () loc(#loc1)
"""


def test_the_marks_of_a_kernel_are_attributes_in_llvm_22(newest):
    """LLVM 22 would drop the properties without an error: the kernel would be a device function."""
    assert for_llvm(NEW_KERNEL, 22) == OLD_KERNEL
    assert for_llvm(NEW_KERNEL, 23) == NEW_KERNEL
    back = from_llvm(OLD_KERNEL, 22)
    assert back == NEW_KERNEL.replace(", kernel, known", ", known").replace(
        "1 : i64}>", "1 : i64, kernel}>"
    )
    assert for_llvm(f"{NEW_KERNEL}{NEW_KERNEL}", 22) == f"{OLD_KERNEL}{OLD_KERNEL}"


def test_a_function_that_is_no_kernel_stays():
    text = """\
  "gpu.func"() <{function_type = (f32) -> ()}> ({
  ^bb0(%arg0: f32):
    "gpu.return"() : () -> ()
  }) {sym_name = "d"} : () -> ()
"""
    assert for_llvm(text, 22) == text


def test_every_op_of_a_module_is_changed():
    new, old = FORMS[0]
    assert for_llvm(f"{new}\n{new}\n", 22) == f"{old}\n{old}\n"


def test_other_text_stays():
    quoted = '"test.op"() <{text = "\\22gpu.barrier\\22() <{scope = #gpu.barrier_scope<workgroup>}>"}> : '
    assert for_llvm(quoted, 22) == quoted


@pytest.mark.parametrize(
    "text, message",
    [
        (
            SUBGROUP,
            "'gpu.barrier' op has scope = #gpu.barrier_scope<subgroup>, which LLVM 24 introduced; "
            "LLVM 22 does not have it",
        ),
        (
            FORMS[1][0].replace("true", "false"),
            "'nvvm.barrier' op has aligned = false, which LLVM 24 introduced; LLVM 22 "
            "does not have it",
        ),
    ],
)
def test_what_an_older_version_cannot_represent(text, message):
    with pytest.raises(HostVersionError) as refused:
        for_llvm(text, 22)
    assert str(refused.value) == message
    assert refused.value.location == ""


def test_what_a_newer_version_cannot_represent(newest):
    text = (
        '%1 = "nvvm.barrier"(%0) <{operandSegmentSizes = array<i32: 0, 0, 1>, '
        "reductionOp = #nvvm.reduction<popc>}> : (i32) -> i32"
    )
    with pytest.raises(HostVersionError) as refused:
        from_llvm(text, 22)
    assert str(refused.value) == (
        "'nvvm.barrier' op has reductionOp = #nvvm.reduction<popc>, which LLVM 22 has; LLVM "
        "24, which reads it, does not"
    )


@pytest.mark.parametrize(
    "location, names",
    [
        ("loc(#loc1)", '"a.mlir":3:5'),
        ("loc(#loc2)", 'callsite("f" at "a.mlir":4:1)'),
        ('loc("b.mlir":1:2)', '"b.mlir":1:2'),
        ("loc(unknown)", "unknown"),
        ("loc(#loc3)", ""),
    ],
)
def test_the_location_of_a_refused_op(location, names):
    aliases = '#loc1 = loc("a.mlir":3:5)\n#loc2 = loc(callsite("f" at "a.mlir":4:1))\n'
    with pytest.raises(HostVersionError) as refused:
        for_llvm(f"{SUBGROUP} {location}\n{aliases}", 22)
    assert refused.value.location == names


@pytest.mark.parametrize("function", [for_llvm, from_llvm])
def test_versions_that_are_too_old(function):
    with pytest.raises(
        ValueError, match="LLVM 21 is too old to exchange IR with; expected 22 or newer"
    ):
        function("", 21)


def test_the_version_of_the_bindings_decides_what_they_print():
    with new_context():
        module = ir.Module.parse(
            "gpu.module @kernels { gpu.func @k() kernel { gpu.barrier gpu.return } }"
        )
        printed = module.operation.get_asm(print_generic_op_form=True)
        assert ("barrier_scope" in printed) == (bindings_version() >= 24)
        for version in (22, 23, 24):
            again = ir.Module.parse(from_llvm(for_llvm(printed, version), version))
            assert again.operation.get_asm(print_generic_op_form=True) == printed
