"""Decoded descriptors: fields, the operand's layout, the bytes that are read."""

import numpy as np
import pytest

from mlir_smem.advisor import decode
from mlir_smem.layout import LayoutError, Major, Swizzle, element, operand_addresses
from mlir_smem.layout import WgmmaDescriptor as Descriptor
from mlir_smem.layout.swizzle import WIDEST_FIRST

BF16 = element("bf16")
K_MAJOR = Descriptor(0x400, 16, 1024, 0, Swizzle.B128).encode()
MN_MAJOR = Descriptor(0x400, 8192, 1024, 0, Swizzle.B128).encode()


def test_text():
    assert str(decode(K_MAJOR, BF16, Major.K)) == (
        "0x4000004000010040, 64 x 16 bf16 of (m/n, k), K-major\n"
        "\n"
        "field          bits   encoded  bytes         meaning\n"
        "-------------  -----  -------  ------------  ---------------------------------------------\n"
        "start address  0-13   64       1024 (0x400)  address of the first element\n"
        "LBO            16-29  1        16            not used\n"
        "SBO            32-45  64       1024          to the next 8 rows of m/n\n"
        "base offset    49-51  0                      128-byte lines into the swizzle pattern\n"
        "swizzle        62-63  1        128           128B: 16-byte units permuted within 128 bytes\n"
        "\n"
        "layout  K-major: Swizzle<3,4,3> o ((8,8),(8,2)):((64,512),(1,8))\n"
        "reads   2048 bytes: 0x400-0x41f, 0x480-0x49f, 0x520-0x53f, 0x5a0-0x5bf, 0x640-0x65f, "
        "0x6c0-0x6df, 0x760-0x77f, 0x7e0-0x81f, and 49 more ranges\n"
        "nothing is suspicious"
    )


def test_json():
    data = decode(K_MAJOR, BF16, Major.K).data()
    reads, ranges = np.array(data.pop("reads")), data.pop("ranges")
    assert (reads == operand_addresses(K_MAJOR, "bf16", "k", 64)).all()
    assert sorted(byte for first, last in ranges for byte in range(first, last + 1)) == sorted(
        byte for place in reads.ravel().tolist() for byte in (place, place + 1)
    )
    assert data == {
        "arch": "sm_90",
        "descriptor": "0x4000004000010040",
        "start": 1024,
        "lbo": 16,
        "sbo": 1024,
        "base_offset": 0,
        "swizzle": "128B",
        "absolute": False,
        "element": "bf16",
        "major": "k",
        "rows": 64,
        "chunks": [32],
        "layout": "Swizzle<3,4,3> o ((8,8),(8,2)):((64,512),(1,8))",
        "forms": ["K-major: Swizzle<3,4,3> o ((8,8),(8,2)):((64,512),(1,8))"],
        "suspicions": [],
    }


@pytest.mark.parametrize("name", ["bf16", "tf32", "e4m3", "b1"])
@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
@pytest.mark.parametrize("rows", [8, 24, 64, 256])
def test_the_layout_is_where_elements_are_read(name, swizzle, rows):
    element_type = element(name)
    for major in Major if element_type in (BF16, element("f16")) else (Major.K,):
        d = Descriptor(0x400, 4096, 2048, 0, swizzle)
        answer = decode(d.encode(), element_type, major, rows)
        read = operand_addresses(d.encode(), name, major.value, rows)
        assert answer.layout.shape == read.shape
        assert (answer.layout.offsets() + 0x400 == read).all()


@pytest.mark.parametrize("bits, major", [(K_MAJOR, Major.K), (MN_MAJOR, Major.MN)])
def test_the_major_that_leaves_fewer_suspicions_is_assumed(bits, major):
    answer = decode(bits, BF16, rows=128)
    assert answer.reading.major is major
    assert "(assumed: fewer suspicions; --major sets it)" in str(answer)


def test_types_that_are_read_k_major_only_need_no_assumption():
    answer = decode(K_MAJOR, element("tf32"))
    assert answer.reading.major is Major.K
    assert "assumed" not in str(answer)


def test_without_an_element_type():
    answer = decode(MN_MAJOR)
    data = answer.data()
    assert data["forms"] == [
        "K-major: Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))",
        "MN-major: Swizzle<3,4,3> o ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO))",
    ]
    assert (data["element"], data["layout"], data["reads"], data["ranges"]) == (None,) * 4
    assert "K-major: not used; MN-major: to the next 128 bytes of m/n" in str(answer)


def test_in_a_notebook():
    shown = decode(K_MAJOR, BF16, Major.MN)._repr_html_()
    assert "<td>SBO</td><td>32-45</td><td>64</td><td>1024</td>" in shown
    assert "<li>MN-major: Swizzle&lt;3,4,3&gt; o" in shown


@pytest.mark.parametrize("rows", [0, 4, 12, 264])
def test_rows_that_no_operand_has(rows):
    with pytest.raises(LayoutError, match=f"an operand of {rows} rows; expected 64 for A, and a"):
        decode(K_MAJOR, BF16, rows=rows)


@pytest.mark.parametrize("bits", [-1, 1 << 64])
def test_more_than_64_bits(bits):
    with pytest.raises(LayoutError, match="is not a 64-bit value"):
        decode(bits)
