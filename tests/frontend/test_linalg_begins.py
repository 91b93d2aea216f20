"""`linalg-to-smem`: what the sums of a product begin with, and what is no fill and no broadcast."""

import pytest
from contractions import generic, lower

PARALLEL = '["parallel", "parallel"]'
#: Ops whose result C begins with, which are neither fills with zeros nor tensors that are moved.
BEGINS = {
    "a loop that the result has not": """linalg.generic
  {indexing_maps = [affine_map<(m, n, j)->(j, n)>, affine_map<(m, n, j)->(m, n)>],
   iterator_types = ["parallel", "parallel", "parallel"]}
  ins(%c : tensor<64x64xf32>) outs(%c : tensor<64x64xf32>)""",
    "an index": f"""linalg.generic
  {{indexing_maps = [affine_map<(m, n)->(0, n)>, affine_map<(m, n)->(m, n)>],
   iterator_types = {PARALLEL}}} ins(%row : tensor<1x64xf32>) outs(%c : tensor<64x64xf32>)""",
    "a number": f"""linalg.generic
  {{indexing_maps = [affine_map<(m, n)->()>, affine_map<(m, n)->(m, n)>],
   iterator_types = {PARALLEL}}} ins(%s : f32) outs(%c : tensor<64x64xf32>)""",
}


def with_initial_sums(op, value="%p"):
    """A product that is added to what an op makes."""
    text = generic().replace(
        "%c: tensor<64x64xf32>", "%c: tensor<64x64xf32>, %s: f32, %row: tensor<1x64xf32>"
    )
    body = f"{{\n^bb0(%p: f32, %o: f32):\nlinalg.yield {value} : f32\n}} -> tensor<64x64xf32>"
    return text.replace("  %d =", f"  %begin = {op} {body}\n  %d =", 1).replace(
        "outs(%c : tensor<64x64xf32>) {\n  ^bb0(%p: bf16",
        "outs(%begin : tensor<64x64xf32>) {\n  ^bb0(%p: bf16",
    )


@pytest.mark.parametrize("name", BEGINS)
def test_what_sums_begin_with(name):
    after, (remark,) = lower(with_initial_sums(BEGINS[name]))
    assert remark == "'linalg.generic' stays as it is: it is no contraction"
    # The op that makes it is there, and the kernel reads its result.
    assert after.count("linalg.generic") == after.count("gpu.launch_func") == 1
    assert lower(with_initial_sums(BEGINS[name]), remarks="products") == (after, [])


def test_a_body_that_yields_another_value_moves_nothing():
    transposed = """linalg.generic
      {indexing_maps = [affine_map<(m, n)->(n, m)>, affine_map<(m, n)->(m, n)>],
       iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<64x64xf32>) outs(%c : tensor<64x64xf32>)"""
    for value, remains in (("%p", 0), ("%s", 1), ("%o", 1)):
        after, _ = lower(with_initial_sums(transposed, value))
        # What is moved is read by the kernel as it is; other ops stay.
        reads_result = "bufferization.to_buffer %0 " in after
        assert (reads_result, after.count("gpu.launch_func")) == (bool(remains), 1)


def test_a_fill_of_two_tensors():
    text = with_initial_sums(BEGINS["a number"]).replace("%begin = linalg", "%begin:2 = linalg")
    two = "affine_map<(m, n)->(m, n)>, affine_map<(m, n)->(m, n)>"
    text = text.replace("affine_map<(m, n)->()>, affine_map<(m, n)->(m, n)>", two)
    text = text.replace(
        "ins(%s : f32) outs(%c : tensor<64x64xf32>)",
        "outs(%c, %c : {0}, {0})".format("tensor<64x64xf32>"),
    )
    text = text.replace(
        "yield %p : f32\n} -> tensor<64x64xf32>",
        "yield %zero, %zero : f32, f32\n} -> (tensor<64x64xf32>, tensor<64x64xf32>)",
    )
    text = text.replace("  %begin:2", "  %zero = arith.constant 0.0 : f32\n  %begin:2").replace(
        "outs(%begin ", "outs(%begin#1 "
    )
    after, _ = lower(text)
    assert after.count("linalg.generic") == after.count("gpu.launch_func") == 1
