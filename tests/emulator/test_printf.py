"""gpu.printf on the emulator: what C's printf prints, thread by thread."""

import pytest
from emulated import only_fault, run

from mlir_smem.emulator import EmulationError


def test_conversions(capsys):
    run(
        """
        %first = arith.cmpi eq, %tid, %c0 : index
        scf.if %first {
          %m = arith.constant -1 : i32
          %m64 = arith.constant -2 : i64
          %yes = arith.constant true
          %half = arith.constant 0.5 : f64
          %h = arith.constant 1.5 : f16
          gpu.printf "%d %u %x %lld %d ", %m, %m, %m, %m64, %yes : i32, i32, i32, i64, i1
          gpu.printf "%5.2f|%-6g|%e 100%%\\0A", %half, %h, %half : f64, f16, f64
        }
        """
    )
    expected = "-1 4294967295 ffffffff -2 1  0.50|1.5   |5.000000e-01 100%\n"
    assert capsys.readouterr().out == expected


def test_threads_in_their_order(capsys):
    run('gpu.printf "%lld %d\\0A", %tid, %t32 : index, i32\ngpu.printf "."')
    assert capsys.readouterr().out == "".join(f"{t} {t}\n" for t in range(32)) + "." * 32


@pytest.mark.parametrize(
    "line, message",
    [
        ('gpu.printf "%d %d", %t32 : i32', "has 1 arguments for the 2 conversions of its format"),
        ('gpu.printf "%s", %t32 : i32', "prints i32 as %s, which the emulator does not know"),
        ('gpu.printf "%f", %t32 : i32', "prints i32 as %f, which the emulator does not know"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(EmulationError, match=message):
        run(line)


def test_poison_is_reported():
    fault = only_fault('%x = ub.poison : i32\ngpu.printf "%d", %x : i32', block=1)
    assert "poison" in fault.message or "undefined" in fault.message
