"""Remarks go to the innermost handler, or to standard error if there is none."""

import pytest
from programs import PRODUCT, kernel, module, tile

import mlir_smem
from mlir_smem.bindings import ir, passmanager
from mlir_smem.bindings.diagnostics import format_location, remark, remark_handler
from mlir_smem.dialect import new_context


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def location_at(line):
    return ir.Location.file("kernel.mlir", line, 3)


def test_without_a_handler_a_remark_is_printed_with_its_location(capsys):
    remark(location_at(7), "chosen")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "kernel.mlir:7:3: remark: chosen\n")


def test_a_handler_takes_remarks(capsys):
    taken = []
    with remark_handler(lambda location, message: taken.append((str(location), message))):
        remark(location_at(7), "chosen")
    assert taken == [('loc("kernel.mlir":7:3)', "chosen")]
    assert capsys.readouterr().err == ""


def test_the_innermost_handler_takes_remarks():
    outer, inner = [], []
    with remark_handler(lambda *arguments: outer.append(arguments)):
        with remark_handler(lambda *arguments: inner.append(arguments)):
            remark(location_at(1), "within")
        remark(location_at(2), "after")
    assert [len(outer), len(inner)] == [1, 1]


def test_a_handler_is_removed_after_an_error(capsys):
    with pytest.raises(KeyError), remark_handler(lambda *_: None):
        raise KeyError
    remark(location_at(7), "chosen")
    assert "chosen" in capsys.readouterr().err


@pytest.mark.parametrize(
    "location, text",
    [
        ('loc("kernel.mlir":7:3)', "kernel.mlir:7:3"),
        ('loc("-":7:3)', "7:3"),
        ("loc(unknown)", "loc(unknown)"),
        ('loc("name")', 'loc("name")'),
    ],
)
def test_locations(location, text):
    parsed = ir.Module.parse(f"module {{}} {location}")
    assert format_location(parsed.operation.location) == text


def test_a_named_location_is_printed_with_its_position():
    parsed = ir.Module.parse('module {} loc("tile"("kernel.mlir":7:3))')
    assert "kernel.mlir:7:3" in format_location(parsed.operation.location)


# Remarks of the passes.


def remarks_of(text, pipeline):
    """Return the remarks of a pipeline: (line, message)."""
    parsed = ir.Module.parse(text)
    pm = passmanager.PassManager("builtin.module")
    mlir_smem.parse_pipeline(pipeline, pm)
    remarks = []
    with remark_handler(lambda location, message: remarks.append((location.start_line, message))):
        pm.run(parsed.operation)
    return remarks


def line_of(text, wanted):
    return next(i for i, line in enumerate(text.splitlines(), 1) if wanted in line)


def test_every_tile_is_explained_where_it_is_allocated():
    text = module()
    remarks = remarks_of(text, "smem-assign-layouts{explain=true}")
    assert [line for line, _ in remarks] == [line_of(text, "%a ="), line_of(text, "%b =")]
    assert all("was chosen" in message and "refused" in message for _, message in remarks)


def test_a_given_layout_is_explained():
    tile_type = tile(64, 64, layout='#smem.swizzle<"64B", "row-major">')
    text = module(kernel(PRODUCT.replace(tile(64, 64), tile_type)))
    messages = [message for _, message in remarks_of(text, "smem-assign-layouts{explain=true}")]
    assert "was given" in messages[0]
    assert "A of the mma" in messages[0]
    assert "was chosen" in messages[1]


def test_every_operand_is_explained_where_it_is_read():
    text = module()
    remarks = remarks_of(
        text, "smem-assign-layouts,smem-allocate,smem-materialize-descriptors{explain=true}"
    )
    assert [line for line, _ in remarks] == 2 * [line_of(text, "%flying =")]
    assert [message[:3] for _, message in remarks] == ["A: ", "B: "]


def test_the_pipeline_explains_layouts_and_descriptors():
    assert len(remarks_of(module(), "smem-to-nvvm{explain=true}")) == 4


@pytest.mark.parametrize("name", ["smem-to-nvvm", "smem-assign-layouts"])
def test_there_are_no_remarks_without_explain(name):
    assert remarks_of(module(), name) == []


def test_explaining_changes_nothing():
    texts = []
    for pipeline in ("smem-to-nvvm", "smem-to-nvvm{explain=true}"):
        parsed = ir.Module.parse(module())
        pm = passmanager.PassManager("builtin.module")
        with remark_handler(lambda *_: None):
            mlir_smem.parse_pipeline(pipeline, pm).run(parsed.operation)
        texts.append(str(parsed))
    assert texts[0] == texts[1]
