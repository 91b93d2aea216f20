"""The machine instructions in the loop of a product that is written as a plain loop."""

from line_tables import disassemble, needs_nvdisasm
from sass import main_loop, parse

from mlir_smem.examples.plain_loops import matmul


@needs_nvdisasm
def test_its_descriptors_are_in_uniform_registers(tmp_path):
    cubin = matmul.cubin("bf16", "bf16", "bf16")
    loop = main_loop(parse(disassemble(cubin, tmp_path, "-c"))["matmul"])
    instructions = (*loop.always, *loop.branches)
    assert sum(x.multiplies for x in instructions) == 4
    # The library's generator has 38; with descriptors in other registers, there are 71.
    assert len(instructions) <= 40
