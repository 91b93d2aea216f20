"""Each suspicion about tcgen05 descriptors: one that raises it, and similar ones that do not."""

import pytest

from mlir_smem.advisor import decode
from mlir_smem.layout import Arch, Major, Swizzle, element
from mlir_smem.layout import WgmmaDescriptor as Descriptor
from mlir_smem.layout.tcgen05 import Tcgen05Descriptor

SM_90, SM_100, SM_103 = Arch
ATOMS = Swizzle.B128_ATOM_32B
GOOD = Tcgen05Descriptor(0x800, 16, 1024, swizzle=Swizzle.B128).encode()
TF32_MN = Tcgen05Descriptor(0x800, 4096, 512, swizzle=ATOMS).encode()
#: The third K block of 48 bytes: the first 32 bytes of a row in one atom, 16 in the next.
SPLIT = Tcgen05Descriptor(0x860, 0x4800, 1024, swizzle=Swizzle.B128, absolute=True).encode()
ABSOLUTE = 1 << 52


def suspicions(bits, name=None, major=None, arch=SM_100, **more):
    """Return the suspicions about a descriptor, by name."""
    answer = decode(bits, name and element(name), major, arch=arch, **more)
    return {suspicion.name: suspicion.text for suspicion in answer.suspicions}


@pytest.mark.parametrize(
    "bits, element_name, major, arch",
    [
        (GOOD, "bf16", Major.K, SM_100),
        (GOOD, "bf16", Major.K, SM_103),
        (GOOD, "e2m1", Major.K, SM_100),
        (GOOD, "e2m3_p32", Major.K, SM_100),
        (GOOD, None, None, SM_100),
        (TF32_MN, "tf32", Major.MN, SM_100),
        (TF32_MN, None, None, SM_100),
        (SPLIT, "e2m1", Major.K, SM_103),
        (SPLIT, None, None, SM_103),
        (Tcgen05Descriptor(0x400, 4096, 1024, swizzle=Swizzle.B128).encode(), "e4m3", Major.MN, SM_100),
    ],
)  # fmt: skip
def test_nothing(bits, element_name, major, arch):
    assert suspicions(bits, element_name, major, arch) == {}


def test_a_descriptor_of_wgmma():
    bits = Descriptor(0x800, 16, 1024, 0, Swizzle.B128).encode()
    assert suspicions(bits, "bf16", Major.K, SM_90) == {}
    assert suspicions(bits, "bf16", Major.K) == {
        "version": "bits 46-48 are 0, but the version of a tcgen05 descriptor is 1: "
        "--arch sm_90 decodes it as wgmma"
    }
    # It is decoded as if the version were set.
    read, right = (decode(b, element("bf16"), Major.K, arch=SM_100).data() for b in (bits, GOOD))
    assert read["reads"] == right["reads"]


def test_another_version():
    assert suspicions(GOOD ^ 3 << 46)["version"] == (
        "bits 46-48 are 2, but the version of a tcgen05 descriptor is 1"
    )


def test_a_descriptor_of_tcgen05_given_as_wgmmas():
    assert list(suspicions(GOOD, "bf16", Major.K, SM_90)) == ["tcgen05-version"]
    assert list(suspicions(TF32_MN, arch=SM_90)) == ["tcgen05-version", "reserved-bits"]


@pytest.mark.parametrize("bit", [14, 15, 30, 31, *range(53, 61)])
def test_reserved_bits(bit):
    assert suspicions(GOOD | 1 << bit, "bf16", Major.K) == {
        "reserved-bits": f"the bits {1 << bit:#018x} belong to no field of a tcgen05 descriptor and must "
        "be 0"
    }


@pytest.mark.parametrize("mode", [3, 5, 7])
def test_an_undefined_swizzling_mode(mode):
    bits = Tcgen05Descriptor(0x800, 2048, 128).encode() | mode << 61
    assert suspicions(bits, "bf16", Major.K) == {
        "swizzle-mode": f"the swizzling mode is {mode}, which is undefined and decoded as none; "
        "expected one of 2 (128B), 1 (128B_ATOM_32B), 4 (64B), 6 (32B), 0 (none)"
    }


# LBO as an absolute address.


def test_sm_103_alone_has_absolute_addresses():
    assert suspicions(GOOD | ABSOLUTE, "bf16", Major.K) == {
        "absolute-arch": "bit 52 makes LBO an absolute address, which only sm_103 has; it must be 0 "
        "on sm_100"
    }


@pytest.mark.parametrize("swizzle", [Swizzle.NONE, Swizzle.B32, Swizzle.B64, ATOMS], ids=str)
def test_an_absolute_lbo_with_another_swizzle(swizzle):
    bits = Tcgen05Descriptor(0x800, 0x4000, 1024, swizzle=swizzle).encode() | ABSOLUTE
    assert suspicions(bits, arch=SM_103) == {
        "absolute-swizzle": "LBO is an absolute address (bit 52), which needs swizzle 128B with 16-byte "
        f"atomicity, not {swizzle}; it is decoded as a relative offset"
    }


def test_an_absolute_lbo_with_a_base_offset():
    assert suspicions(SPLIT | 3 << 49, "e2m1", Major.K, SM_103) == {
        "absolute-base-offset": "LBO is an absolute address (bit 52), so the base offset must be 0, not 3"
    }


def test_an_absolute_lbo_with_a_start_inside_a_pattern():
    assert suspicions(SPLIT + (256 >> 4), "e2m1", Major.K, SM_103) == {
        "absolute-start": "LBO is an absolute address (bit 52), and the start 0x960 is 352 bytes into "
        "the 1024 of a 128B pattern; without base offset, it must be in the first line"
    }


def test_an_absolute_lbo_off_the_pattern():
    assert suspicions(SPLIT + (1 << 16), "e2m1", Major.K, SM_103) == {
        "absolute-lbo": "LBO is the address 0x4810, not a multiple of 1024: the second chunk of each row "
        "does not start at a swizzle pattern"
    }


def test_an_absolute_lbo_of_an_mn_major_operand():
    answer = decode(SPLIT, element("bf16"), Major.MN, arch=SM_103)
    assert [suspicion.text for suspicion in answer.suspicions] == [
        "LBO is an absolute address (bit 52), which needs a K-major operand, but this one is MN-major"
    ]
    assert answer.data()["reads"] is None


def test_an_absolute_lbo_with_32_bytes_of_k():
    assert suspicions(SPLIT, "bf16", Major.K, SM_103) == {
        "absolute-k": "LBO is an address (bit 52), which is for a K of 48 bytes; the instruction reads 32"
    }


def test_a_second_chunk_that_leaves_its_line():
    # A descriptor of two chunks; the second, of 32 bytes, starts 112 bytes into its line.
    text = (
        "LBO is the address 0x870, 112 bytes into a line of 128, but 32 bytes of each row are read from "
        "there: both chunks must be within lines (PTX ISA 9.7.16.3.1.2)"
    )
    answer = decode(0x4010404000870047, element("e2m1"), Major.K, arch=SM_103)
    assert (answer.suspicions[-1].name, answer.suspicions[-1].text) == ("absolute-chunk", text)
    assert answer.data()["reads"] is None
    # A second chunk of 16 bytes fits.
    assert "absolute-chunk" not in suspicions(0x4010404000870046, "e2m1", Major.K, SM_103)


# A K of 48 bytes.


def test_a_row_that_ends_within_an_instruction():
    relative = Tcgen05Descriptor(0x860, 16, 1024, swizzle=Swizzle.B128).encode()
    assert suspicions(relative, "e2m1", Major.K, SM_103, k_bytes=48) == {
        "row-end": "the instruction reads 48 bytes from byte 96 of lines of 128: past their end, it "
        "needs an LBO that is an address (bit 52)"
    }
    assert suspicions(relative, "e2m1", Major.K, SM_103) == {}
    assert suspicions(relative - 1, "e2m1", Major.K, SM_103, k_bytes=48) == {}


@pytest.mark.parametrize(
    "bits, element_name, arch, k_bytes, text",
    [
        (GOOD, "e2m1", SM_100, 48, "K is 48 bytes, but sm_100 reads 32"),
        (GOOD, "e2m1", SM_103, 64, "K is 64 bytes, but sm_103 reads 32 or 48"),
        (
            GOOD,
            "bf16",
            SM_103,
            48,
            "K is 48 bytes, which needs e2m1 with swizzle 128B, not bf16 with 128B",
        ),
        (
            Tcgen05Descriptor(0x800, 16, 512, swizzle=Swizzle.B64).encode(),
            "e2m1",
            SM_103,
            48,
            "K is 48 bytes, which needs e2m1 with swizzle 128B, not e2m1 with 64B",
        ),
    ],
)
def test_an_illegal_k(bits, element_name, arch, k_bytes, text):
    assert suspicions(bits, element_name, Major.K, arch, k_bytes=k_bytes) == {"k-bytes": text}


def test_two_chunks_of_a_row_are_read():
    answer = decode(SPLIT, element("e2m1"), arch=SM_103)
    assert answer.data()["chunks"] == [32, 16]
    reads = answer.reading.addresses
    assert reads.shape == (128, 96)
    assert reads[0, [0, 63, 64, 95]].tolist() == [0x860, 0x87F, 0x4800, 0x480F]
    assert "32 bytes of each row from 0x860 and 16 from 0x4800" in str(answer)
    assert "address 0x4800 of the second chunk of the rows" in str(answer)
    assert answer.layout is None


# Types.


@pytest.mark.parametrize(
    "bits, element_name, major, arch, name, text",
    [
        (
            GOOD,
            "tf32",
            Major.MN,
            SM_100,
            "swizzle",
            "tcgen05 reads tf32 MN-major with swizzle 128B_ATOM_32B, not 128B",
        ),
        (
            TF32_MN,
            "tf32",
            Major.K,
            SM_100,
            "swizzle",
            "tcgen05 reads tf32 K-major with swizzle 128B or 64B or 32B or none, not 128B_ATOM_32B",
        ),
        (
            TF32_MN,
            "bf16",
            Major.MN,
            SM_100,
            "swizzle",
            "tcgen05 reads bf16 MN-major with swizzle 128B or 64B or 32B or none, not 128B_ATOM_32B",
        ),
        (GOOD, "e2m1", Major.MN, SM_100, "type", "tcgen05 reads e2m1 K-major only"),
        (GOOD, "b1", Major.K, SM_100, "type", "b1 is not an A or B element type of tcgen05"),
        (
            GOOD,
            "s8",
            Major.K,
            SM_103,
            "type",
            "s8 is not an A or B element type of tcgen05 on sm_103",
        ),
    ],
)
def test_types_that_are_not_read(bits, element_name, major, arch, name, text):
    assert suspicions(bits, element_name, major, arch) == {name: text}
    shown = decode(bits, element(element_name), major, arch=arch)
    assert shown.data()["reads"] is None
    assert str(shown)


def test_the_major_that_is_read_is_assumed():
    assert decode(TF32_MN, element("tf32"), arch=SM_100).reading.major is Major.MN
    assert decode(GOOD, element("tf32"), arch=SM_100).reading.major is Major.K


def test_lines_of_an_atom():
    small = Tcgen05Descriptor(0, 4096, 256, swizzle=ATOMS).encode()
    assert suspicions(small, "tf32", Major.MN)["sbo-small"] == (
        "SBO is 256 bytes, less than the 512 of the 4 lines of 128 bytes that it steps over"
    )
    odd = Tcgen05Descriptor(0, 4096 + 256, 512, swizzle=ATOMS).encode()
    assert suspicions(odd, "tf32", Major.MN)["lbo-off-pattern"] == (
        "LBO is 4352 bytes, not a multiple of the 512 after which the swizzle 128B_ATOM_32B repeats: "
        "consecutive atoms are swizzled differently"
    )


@pytest.mark.parametrize("rows", [0, 12, 264])
def test_rows_that_no_operand_has(rows):
    with pytest.raises(ValueError, match=f"an operand of {rows} rows; expected 64 or 128 for A"):
        decode(GOOD, element("bf16"), rows=rows, arch=SM_100)


def test_text_of_fields():
    lines = str(decode(TF32_MN, element("tf32"), Major.MN, arch=SM_100)).split("\n")
    words = [line.split("  ")[0] for line in lines[4:11]]
    assert words == ["start address", "LBO", "SBO", "version", "base offset", "LBO mode", "swizzle"]
    assert lines[6].endswith("to the next 4 of k")
    assert lines[9].endswith("LBO is a relative byte offset")
    assert lines[10].endswith("128B_ATOM_32B: 32-byte units permuted within 128 bytes")
    assert "Swizzle<2,5,2> o ((4,8,4),(4,2)):((1,4,1024),(32,128))" in lines[12]
