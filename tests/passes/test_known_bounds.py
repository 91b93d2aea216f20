"""Loops whose bounds are minima and maxima: where the numbers of their iterations are known."""

import pytest
from test_check_async import messages_of

KERNEL = """
func.func @f(%n: memref<?xf32>, %i: index) attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %extent = memref.dim %n, %c0 : memref<?xf32>
  {bounds}
  %pipeline = "smem.create_pipeline"() {{stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32}}
    : () -> !smem.pipeline
  "smem.warp_specialize"() ({{
    "smem.partition"() ({{
      scf.for %k = %c0 to %all step %c1 {{
        %s = "smem.producer_acquire"(%pipeline, %k) : (!smem.pipeline, index) -> index
        "smem.producer_commit"(%pipeline, %k) : (!smem.pipeline, index) -> ()
      }}
    }}) {{warpgroups = 1 : i32}} : () -> ()
    "smem.partition"() ({{
      scf.for %k = %c0 to %first step %c1 {{
        %s = "smem.consumer_wait"(%pipeline, %k) : (!smem.pipeline, index) -> index
        "smem.consumer_release"(%pipeline, %k) : (!smem.pipeline, index) -> ()
      }}
      scf.for %k = %first to %all step %c1 {{
        %s = "smem.consumer_wait"(%pipeline, %k) : (!smem.pipeline, index) -> index
        "smem.consumer_release"(%pipeline, %k) : (!smem.pipeline, index) -> ()
      }}
    }}) {{warpgroups = 1 : i32}} : () -> ()
  }}) : () -> ()
  return
}}
"""
POSITIVE = "%all = arith.maxsi %i, %c1 : index"
NATURAL = "%all = arith.ceildivui %extent, %c8 : index"
UNKNOWN = "%all = arith.addi %i, %c1 : index"


@pytest.mark.parametrize(
    "bounds, is_proven",
    [
        ((POSITIVE, "%first = arith.minui %all, %c3 : index"), True),
        ((POSITIVE, "%first = arith.minsi %c3, %all : index"), True),
        ((NATURAL, "%first = arith.minui %all, %c3 : index"), True),
        # Of a negative number, the unsigned minimum is the other one.
        ((UNKNOWN, "%first = arith.minui %all, %c3 : index"), False),
        # The first loop would have no iteration, and the second one too many.
        ((UNKNOWN, "%first = arith.minsi %all, %c3 : index"), False),
        ((POSITIVE, "%first = arith.minsi %i, %c3 : index"), False),
        ((POSITIVE, "%first = arith.maxsi %all, %c3 : index"), False),
        ((POSITIVE, "%first = arith.subi %all, %c3 : index"), False),
    ],
)
def test_two_loops_over_parts_of_a_range(bounds, is_proven):
    messages = messages_of(KERNEL.format(bounds="\n  ".join(bounds)))
    assert (messages == []) == is_proven, messages
