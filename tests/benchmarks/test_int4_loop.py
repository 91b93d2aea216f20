"""The machine instructions in the loop of `examples/int4_matmul.py`."""

from line_tables import disassemble, needs_nvdisasm
from sass import main_loop, parse

from mlir_smem.examples.int4_matmul import int4_matmul


@needs_nvdisasm
def test_a_weight_takes_two_and_a_half_instructions_at_most(tmp_path):
    cubin = int4_matmul.cubin("u8", "f32", "bf16", "f32")
    loop = main_loop(parse(disassemble(cubin, tmp_path, "-c"))["int4_matmul"])
    # A thread has 64 weights of 64x128. The loop also waits, multiplies, and adds scaled products.
    assert len(loop.always) <= 2.5 * 64
