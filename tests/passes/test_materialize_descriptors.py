"""`smem-materialize-descriptors` emits the descriptors of CuTe for `wgmma`."""

import pytest
from emitted_mmas import SHARED, fold
from oracle import ROWS, SWIZZLES, name_of

import mlir_smem
from mlir_smem.bindings import ir, passmanager

ELEMENTS = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "s8": "i8", "u8": "ui8", "b1": "i1"}

#: For each type, majorness and swizzle, a tile with the default order of atoms.
EACH = {
    (row["dtype"], row["major"], row["swizzle"]): row
    for row in ROWS
    if (row["stages"], row["inst_mn"], row["smem_addr"], row["tile_order"])
    == (1, 64, 0, "mn_first" if row["major"] == "K" else "k_first")
}

TEXT = """
!a = !smem.tile<tensor<{mn}x{k}x{element}>, #smem.swizzle<"{swizzle}", "{contiguity}">>
!b = !smem.tile<tensor<{k}x64x{element}>, #smem.swizzle<"none", "column-major">>
func.func @mma() {{
  %b = "smem.alloc"() {{offset = 0 : i64}} : () -> !b
  %a = "smem.alloc"() {{offset = {offset} : i64}} : () -> !a
  %d = "smem.mma"(%a, %b) : (!a, !b)
    -> !smem.fragment<tensor<{mn}x64x{d}>, #smem.in_flight>
  return
}}
"""


@pytest.mark.parametrize("row", EACH.values(), ids=name_of)
def test_a_descriptor_and_its_steps(row):
    type_ = ELEMENTS.get(row["dtype"], row["dtype"])
    text = TEXT.format(
        **row | {"swizzle": SWIZZLES[row["swizzle"]]},
        element=type_,
        contiguity="row-major" if row["major"] == "K" else "column-major",
        d="i32" if "i" in type_ else "f32",
        offset=0x10000,
    )
    with ir.Context() as context:
        mlir_smem.register(context)
        module = ir.Module.parse(text)
        pm = passmanager.PassManager()
        mlir_smem.add_passes(pm, "smem-materialize-descriptors")
        pm.run(module.operation)
        (mma,) = (
            op
            for function in module.body.operations
            if function.operation.name == "func.func"
            for op in function.regions[0].blocks[0]
            if op.operation.name == "smem.mma_desc"
        )
        bits = fold(mma.operands[0])
        steps = list(ir.DenseI64ArrayAttr(mma.attributes["a_steps"]))
    ignored = sum(0x3FFF << {"lbo": 16, "sbo": 32}[name] for name in row["dont_care"])
    expected = int(row["desc_hex"], 16) + (SHARED + 0x10000 >> 4)
    assert bits & ~ignored == expected & ~ignored
    assert steps == [mn + k for mn in row["mn_step_u128"] for k in row["k_step_u128"]]
