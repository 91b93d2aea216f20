"""Passes of this project on the pass manager of a host compiler, also with ops of other dialects."""

import pytest
from programs import COMPLAINT, PRODUCT, WRONG, A, kernel, matrix, module, tile

import mlir_smem
from mlir_smem.bindings import ir, passmanager
from mlir_smem.dialect import new_context
from mlir_smem.layout import Swizzle
from mlir_smem.passes import OptionError, pass_named, passes

NAMES = [pass_.name for pass_ in passes()["smem-to-nvvm"]().passes()]


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def manager():
    return passmanager.PassManager("builtin.module")


def lower(text, name="smem-to-nvvm", **options):
    """Return the module after a pass of this project."""
    parsed = ir.Module.parse(text)
    mlir_smem.add_passes(manager(), name, **options).run(parsed.operation)
    return parsed


def after(text, pipeline):
    """Return the module after a pipeline, as text."""
    parsed = ir.Module.parse(text)
    mlir_smem.parse_pipeline(pipeline, manager()).run(parsed.operation)
    return str(parsed)


def test_add_passes_returns_the_manager():
    pm = manager()
    assert mlir_smem.add_passes(pm, "smem-to-nvvm") is pm


def test_the_pipeline_leaves_no_ops_or_types_of_smem():
    assert "smem.mma" not in str(lower(module()))
    assert "!smem." not in str(lower(module()))


def test_the_pipeline_is_equal_to_its_passes_in_order():
    assert after(module(), ",".join(NAMES)) == str(lower(module()))


def test_options_can_be_values():
    narrow = lower(module(), "smem-assign-layouts", max_swizzle=Swizzle.B32)
    assert "Swizzle<1,4,3>" in str(narrow)
    assert "Swizzle<3,4,3>" not in str(narrow)


def test_options_can_be_text():
    values = lower(module(), max_swizzle=Swizzle.B32, explain=False)
    assert str(lower(module(), max_swizzle="32", explain="false")) == str(values)


def test_an_unknown_option_is_refused_before_anything_runs():
    with pytest.raises(OptionError, match="smem-to-nvvm has no option 'speed'"):
        mlir_smem.add_passes(manager(), "smem-to-nvvm", speed=1)


def test_an_unknown_pass_is_refused():
    with pytest.raises(OptionError, match="no pass is named 'smem-to-ptx'"):
        mlir_smem.add_passes(manager(), "smem-to-ptx")


def test_upstream_passes_run_between_passes_of_smem():
    text = after(module(), "smem-assign-layouts,gpu.module(cse),smem-allocate")
    assert "offset = 0" in text


def test_upstream_passes_after_the_pipeline():
    both = after(module(), "builtin.module(smem-to-nvvm,gpu.module(canonicalize,cse))")
    assert both.count("arith.constant") < str(lower(module())).count("arith.constant")


def test_a_manager_with_passes_of_the_host():
    seen = []
    pm = manager()
    pm.add(lambda op, _: seen.append("smem.alloc" in str(op)), name="before")
    mlir_smem.add_passes(pm, "smem-to-nvvm")
    pm.add(lambda op, _: seen.append("smem.alloc" in str(op)), name="after")
    pm.run(ir.Module.parse(module()).operation)
    assert seen == [True, False]


def test_a_manager_runs_on_several_modules():
    pm = mlir_smem.add_passes(manager(), "smem-to-nvvm")
    texts = []
    for _ in range(2):
        parsed = ir.Module.parse(module())
        pm.run(parsed.operation)
        texts.append(str(parsed))
    assert texts[0] == texts[1]


def test_a_manager_of_gpu_modules():
    parsed = ir.Module.parse(module())
    pm = mlir_smem.add_passes(passmanager.PassManager("gpu.module"), "smem-to-nvvm")
    pm.run(parsed.body.operations[0].operation)
    assert str(parsed) == str(lower(module()))


# Modules with other ops.


def test_a_module_without_ops_of_smem_is_not_changed():
    text = str(
        ir.Module.parse(
            """
            func.func @host(%x: index) -> index {
              %y = arith.addi %x, %x : index
              return %y : index
            }
            gpu.module @empty {}"""
        )
    )
    assert str(lower(text)) == text


def test_an_empty_module_is_not_changed():
    assert str(lower("module {}")) == str(ir.Module.parse("module {}"))


def test_ops_of_other_dialects_are_not_changed(context):
    context.allow_unregistered_dialects = True
    body = f"""
      %x = "host.op"() ({{ "host.inner"() : () -> () }}) : () -> i32
      {PRODUCT}
      "host.op"(%x) : (i32) -> ()"""
    text = str(lower("func.func private @host()\n" + module(kernel(body))))
    assert text.count('"host.op"') == 2
    assert '"host.inner"' in text
    assert "func.func private @host()" in text


def test_attributes_of_the_host_are_kept():
    text = module(kernel(attributes=', host.mark = "kept"'))
    assert 'host.mark = "kept"' in str(lower(text))


def test_two_kernels_of_a_module_are_lowered_as_in_two_modules():
    alone = str(lower(module(kernel())))
    both = str(lower(module(kernel(), kernel(name="second"))))
    body = alone[alone.index("gpu.func") : alone.rindex("gpu.return")]
    first, second = both.split("gpu.func")[1:]
    for half, name in ((first, "product"), (second, "second")):
        function_text = half[: half.rindex("gpu.return")].replace(name, "product", 1)
        assert f"gpu.func{function_text}" == body


def test_kernels_of_a_module_share_one_symbol():
    both = str(lower(module(kernel(), kernel(name="second"))))
    assert both.count("llvm.mlir.global") == 1


def test_each_gpu_module_has_its_own_symbol():
    both = lower(module(name="first") + module(name="second"))
    assert str(both).count("llvm.mlir.global") == 2


def test_a_kernel_without_tiles_gets_no_shared_memory():
    both = lower(module(kernel("", name="empty"), kernel()))
    assert str(both).count("smem.shared_bytes") == 1


# Passes that run twice.


@pytest.mark.parametrize("name", [*NAMES, "smem-to-nvvm"])
def test_running_a_pass_again_changes_nothing(name):
    before = NAMES[: NAMES.index(name)] if name in NAMES else []
    once = after(module(), ",".join([*before, name]))
    assert after(once, name) == once


def test_the_pipeline_after_its_passes_changes_nothing():
    once = str(lower(module()))
    for name in NAMES:
        assert after(once, name) == once


@pytest.mark.parametrize(
    "name, message",
    [
        ("smem-allocate", "'smem.alloc' op has no layout; run smem-assign-layouts before"),
        (
            "smem-materialize-descriptors",
            "'smem.mma' op uses a tile without a layout; run smem-assign-layouts before",
        ),
        (
            "smem-lower-copies",
            "'smem.copy' op uses a tile without a layout; run smem-assign-layouts before",
        ),
        (
            "smem-lower-mma",
            "'smem.mma' op still reads tiles; run smem-materialize-descriptors before",
        ),
    ],
)
def test_a_pass_that_runs_too_early_names_the_pass_before_it(name, message):
    with pytest.raises(ir.MLIRError, match=message):
        lower(module(), name)


@pytest.mark.parametrize(
    "pipeline, message",
    [
        (
            "smem-assign-layouts,smem-materialize-descriptors",
            "'smem.alloc' op has no offset in shared memory; run smem-allocate before",
        ),
        (
            "smem-assign-layouts,smem-allocate,smem-lower-copies",
            "'smem.alloc' op is still used by 'smem.mma'; run smem-materialize-descriptors before",
        ),
    ],
)
def test_the_error_names_a_missing_pass(pipeline, message):
    with pytest.raises(ir.MLIRError, match=message):
        after(module(), pipeline)


# Errors.


def test_an_error_fails_the_manager_at_its_location():
    text = module(kernel(f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":7:3)'))
    with pytest.raises(
        ir.MLIRError, match=r'"host.py":7:3: \'smem.alloc\' op has no layout that all'
    ):
        lower(text)


def test_no_pass_runs_after_one_that_failed():
    seen = []
    pm = mlir_smem.add_passes(manager(), "smem-lower-mma")
    pm.add(lambda op, _: seen.append(op), name="after")
    with pytest.raises(ir.MLIRError):
        pm.run(ir.Module.parse(module()).operation)
    assert seen == []


def test_verifiers_run_when_text_is_parsed():
    with pytest.raises(ir.MLIRError, match=COMPLAINT):
        ir.Module.parse(WRONG)


def test_a_copy_in_a_kernel_of_unknown_size_is_refused():
    text = f"""gpu.module @kernels {{ gpu.func @f(%A: {A}) kernel {{
      %a = "smem.alloc"() : () -> {tile(64, 64)}
      "smem.copy"(%A, %a) : ({A}, {tile(64, 64)}) -> ()
      gpu.return }} }}"""
    with pytest.raises(ir.MLIRError, match="known_block_size"):
        lower(text)


def test_a_copy_of_single_bits_is_refused():
    source = matrix(64, 128, element="i1")
    single = tile(64, 128, element="i1")
    body = f"""%a = "smem.alloc"() : () -> {single}
      "smem.copy"(%A, %a) : ({source}, {single}) -> ()"""
    with pytest.raises(ir.MLIRError):
        lower(module(kernel(body, arguments=f"%A: {source}")))


def test_defaults_are_those_of_the_passes():
    pipeline = pass_named("smem-to-nvvm")()
    assert [p.name for p in pipeline.passes()] == NAMES
    assert all(p == type(p)() for p in pipeline.passes())


# Other shared memory of the kernel.


def with_buffer(element):
    return f"""gpu.module @kernels {{
      gpu.func @f() workgroup(%x: memref<4x{element}, #gpu.address_space<workgroup>>) kernel {{
        %a = "smem.alloc"() : () -> {tile(64, 64)}
        gpu.return
      }} }}"""


@pytest.mark.parametrize(
    "element",
    [
        "bf16",
        "i8",
        "i64",
        "f32",
        "index",
        "vector<4xf32>",
        "i1",
        "complex<f32>",
    ],
)
def test_static_buffers_of_any_element_type(element):
    assert "offset = 0" in after(with_buffer(element), "smem-assign-layouts,smem-allocate")


def test_static_buffers_count_against_the_limit():
    with pytest.raises(ir.MLIRError, match=r"needs 8192 bytes of shared memory .* has 8191"):
        after(with_buffer("i8"), "smem-assign-layouts,smem-allocate{max-bytes=8195}")


def test_a_textual_pipeline_and_add_passes_are_equal():
    text = after(module(), "smem-to-nvvm{max-swizzle=32}")
    assert text == str(lower(module(), max_swizzle=Swizzle.B32))
