"""`builtin.unrealized_conversion_cast` between signless and unsigned integers, and `%nsmid`."""

import pytest
from emulated import run

from mlir_smem.emulator import EmulationError


def test_other_casts_are_refused():
    body = """%x = arith.constant 1.0 : f32
    %r = builtin.unrealized_conversion_cast %x : f32 to i32"""
    with pytest.raises(EmulationError) as error:
        run(body)
    assert "casts other values than integers" in str(error.value)


def test_there_are_multiprocessors():
    body = """%n = nvvm.read.ptx.sreg.nsmid : i32
    %zero = arith.constant 0 : i32
    %some = arith.cmpi sgt, %n, %zero : i32
    llvm.intr.assume %some : i1"""
    run(body)
