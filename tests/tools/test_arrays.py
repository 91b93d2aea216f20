"""Arrays in files: element types that NumPy does not have, and malformed files."""

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.tools.arrays import load, save
from mlir_smem.tools.inputs import InputError

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, I8, I32 = (np.dtype(t) for t in (np.float16, np.float32, np.int8, np.int32))


@pytest.fixture
def save_array(tmp_path):
    """Save an array to a file; return its path."""

    def store(array):
        path = tmp_path / "x.npy"
        np.save(path, array)
        return str(path)

    return store


def load_error(file, dtype=F32):
    with pytest.raises(InputError) as error:
        load("X", str(file), dtype)
    return str(error.value)


BITS = np.array([[0x3F80, 0xC000], [0x0001, 0x7F80]], np.uint16)


@pytest.mark.parametrize("raw", [np.dtype("V2"), np.dtype(np.uint16), BF16], ids=str)
def test_bf16_as_raw_bytes(save_array, raw):
    array = load("X", save_array(BITS.view(raw)), BF16)
    assert array.dtype == BF16
    assert array.view(np.uint16).tolist() == BITS.tolist()


@pytest.mark.parametrize(
    "number, rounded",
    [(1.0, 1.0), (1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (1 + 2**-8 + 2**-20, 1 + 2**-7)],
)
def test_bf16_from_f32_is_rounded_to_nearest_even(save_array, number, rounded):
    array = load("X", save_array(np.array([number], F32)), BF16)
    assert (array.dtype, float(array[0])) == (BF16, rounded)


def test_f16_is_rounded_to_nearest_even(save_array):
    array = load("X", save_array(np.array([1 + 2**-11, 1 + 3 * 2**-11], F32)), F16)
    assert array.astype(float).tolist() == [1.0, 1 + 2**-9]


@pytest.mark.parametrize("dtype", [F32, F16, BF16, np.dtype(ml_dtypes.float8_e5m2)], ids=str)
def test_f64_is_not_narrowed(save_array, dtype):
    path = save_array(np.ones(4))
    also = "" if dtype == F32 else ", or float32, which is rounded to it"
    assert load_error(path, dtype) == (
        f"X: {path} has elements of float64; expected {dtype}{also}; array.astype(numpy.float32) "
        "converts it"
    )


def test_f32_is_widened(save_array):
    array = load("X", save_array(np.array([0.1, 3.0], F32)), np.dtype(np.float64))
    assert array.dtype == np.float64
    assert array.tolist() == [float(F32.type(0.1)), 3.0]


@pytest.mark.parametrize(
    "dtype", [np.dtype(np.float64), F32, F16, I8, I32, np.dtype("i8")], ids=str
)
def test_the_same_type_is_not_converted(save_array, dtype):
    array = load("X", save_array(np.arange(6, dtype=dtype).reshape(2, 3)), dtype)
    assert array.dtype == dtype
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("file_type", [np.uint16, np.float32])
def test_column_major_stays_column_major(save_array, file_type):
    array = load("X", save_array(np.asfortranarray(np.ones((4, 3), file_type))), BF16)
    assert array.strides == (2, 8)


@pytest.mark.parametrize(
    "given, dtype",
    [
        (np.int32, F32),
        (np.int32, np.dtype(np.int64)),
        (np.float32, np.dtype(np.int64)),
        (np.float16, F32),
        (np.float16, BF16),
        (np.int16, BF16),
        (np.float32, I8),
        (np.int32, I8),
        (np.uint8, I8),
        (np.uint16, F16),
        (np.dtype(">f4"), F32),
        (np.complex64, F32),
        (np.dtype([("a", "f4")]), F32),
    ],
)
def test_other_types_are_refused(save_array, given, dtype):
    path = save_array(np.zeros(4, given))
    rounded = ", or float32, which is rounded to it" if dtype in (BF16, F16) else ""
    assert load_error(path, dtype) == (
        f"X: {path} has elements of {np.dtype(given)}; expected {dtype}{rounded}"
    )


def test_integers_for_f64_are_refused(save_array):
    path = save_array(np.zeros(4, np.int64))
    assert load_error(path, np.dtype(np.float64)) == (
        f"X: {path} has elements of int64; expected float64, or float32"
    )


def test_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "x.npy"
    assert load_error(path) == f"X: {path}: No such file or directory"


def test_a_folder(tmp_path):
    assert load_error(tmp_path) == f"X: {tmp_path}: Is a directory"


def test_objects_are_not_unpickled(save_array):
    assert "is not a .npy file" in load_error(save_array(np.array([{}], object)))


def test_text(tmp_path):
    path = tmp_path / "x.npy"
    path.write_text("1 2 3\n")
    assert load_error(path).startswith(f"X: {path} is not a .npy file: ")


def test_a_file_that_is_cut_short(save_array):
    path = save_array(np.ones(100))
    with open(path, "r+b") as file:
        file.truncate(200)
    assert "is not a .npy file" in load_error(path)


def test_an_empty_file(tmp_path):
    path = tmp_path / "x.npy"
    path.touch()
    assert "is not a .npy file" in load_error(path)


def with_header(path, header, data=b"", version=1):
    """Write a .npy file with a header that NumPy does not write."""
    text = header.encode("latin-1") + b"\n"
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size + text + data)
    return path


def header(shape, descr="'<f4'", fortran="False"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}}}"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "text, problem",
    [
        (header("(1 << 20, 1 << 20)"), "is not a .npy file: "),
        (header("(1048576, 1048576)"), "has the shape (1048576, 1048576) of float32, 439804651"),
        (
            header(f"({10**30},)"),
            f"has the shape ({10**30},) of float32, {4 * 10**30} bytes, but 16",
        ),
        (header(f"(0, {10**30})"), "is not a .npy file: "),
        (header("(5,)"), "its header has the shape (5,) of float32, 20 bytes, but 16 follow"),
        (header("(True, 4)"), "its header has the shape (True, 4); expected numbers from 0"),
        (header("(-4,)"), "its header has the shape (-4,); expected numbers from 0"),
        (header("(-2, -2)"), "its header has the shape (-2, -2); expected numbers from 0"),
        (header("(4.0,)"), "is not a .npy file: "),
        (header("4"), "is not a .npy file: "),
        (header("[4]"), "is not a .npy file: "),
        (header("(4,)", "'<f9'"), "is not a .npy file: "),
        (header("(4,)", "'|V0'"), "has elements of"),
        (header(f"({10**30},)", "'|V0'"), "is not a .npy file: "),
        (header("(4,)", "[('a', '<f4'), 5]"), "is not a .npy file: "),
        (header("(4,)", fortran="2"), "is not a .npy file: "),
        ("{1: 2, 'shape': 3}", "is not a .npy file: "),
        ("{[]: 2}", "is not a .npy file: "),
        ("{'shape': (4,", "is not a .npy file: "),
        ("'" * 3, "is not a .npy file: "),
        ("  x\n y", "is not a .npy file: "),
        ("(" * 4000, "is not a .npy file: "),
        ("-" * 4000 + "1", "is not a .npy file: "),
        ("\0", "is not a .npy file: "),
        ("x" * 20000, "is not a .npy file: "),
    ],
)
def test_malformed_headers(tmp_path, text, problem, version):
    path = with_header(tmp_path / "x.npy", text, bytes(16), version)
    message = load_error(path)
    assert problem in message
    assert "\n" not in message


def test_a_format_of_another_version(tmp_path):
    path = with_header(tmp_path / "x.npy", header("(4,)"), bytes(16), 9)
    assert "its format has version (9, 0); expected (1, 0) or (2, 0)" in load_error(path)


def test_an_array_that_does_not_fit_the_memory(save_array, monkeypatch):
    def load_(*_, **__):
        raise MemoryError("Unable to allocate 2.00 TiB")

    monkeypatch.setattr(np, "load", load_)
    path = save_array(np.ones(4, F32))
    assert load_error(path) == (
        f"X: {path} does not fit this machine's memory: Unable to allocate 2.00 TiB"
    )


def test_an_archive_of_arrays(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.ones(4))
    assert "is not a .npy file" in load_error(path)


# Saving.


def test_bf16_is_saved_as_f32(tmp_path):
    path = tmp_path / "y.npy"
    save([(str(path), BITS.view(BF16))])
    saved = np.load(path)
    assert saved.dtype == np.float32
    assert saved.view(np.uint32).tolist() == (BITS.astype(np.uint32) << 16).tolist()


@pytest.mark.parametrize("dtype", [np.dtype(np.float64), F32, F16, I8, I32], ids=str)
def test_other_types_are_saved_unchanged(tmp_path, dtype):
    path = tmp_path / "y.npy"
    save([(str(path), np.arange(4, dtype=dtype))])
    assert np.load(path).dtype == dtype


@pytest.mark.parametrize("name", ["y.npy", "y", "y.bin"])
def test_the_name_is_kept(tmp_path, name):
    save([(str(tmp_path / name), np.ones(4))])
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("dtype", [F32, BF16, F16], ids=str)
def test_what_is_saved_can_be_loaded(tmp_path, dtype):
    path = str(tmp_path / "y.npy")
    array = np.asfortranarray(np.arange(12).reshape(3, 4).astype(dtype))
    save([(path, array)])
    loaded = load("Y", path, dtype)
    assert loaded.dtype == dtype
    assert (loaded == array).all()
    assert loaded.flags.f_contiguous


def test_a_folder_that_is_not_there(tmp_path):
    path = tmp_path / "nowhere" / "y.npy"
    with pytest.raises(InputError) as error:
        save([(str(path), np.ones(4))])
    assert str(error.value) == f"{path}: No such file or directory"


def test_a_failed_save_leaves_nothing(tmp_path):
    path = tmp_path / "y.npy"
    path.mkdir()
    with pytest.raises(InputError, match="npy: Is a directory"):
        save([(str(path), np.ones(4))])
    assert list(tmp_path.iterdir()) == [path]


def test_scale_factors_are_raw_bytes_or_rounded_and_saved_as_f32(save_array, tmp_path):
    kind = np.dtype(ml_dtypes.float8_e8m0fnu)
    bits = np.arange(255, dtype=np.uint8)
    for raw in (bits, bits.view("V1"), bits.view(kind)):
        assert (load("X", save_array(raw), kind).view(np.uint8) == bits).all()
    save([(str(tmp_path / "y.npy"), bits.view(kind))])
    assert np.load(tmp_path / "y.npy").tolist() == [
        2.0 ** (exponent - 127) for exponent in range(255)
    ]


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_8_bit_floats_are_raw_bytes_or_rounded_and_saved_as_f32(save_array, tmp_path, dtype):
    kind = np.dtype(dtype)
    bits = np.arange(16, dtype=np.uint8)
    for raw in (bits, bits.view("V1")):
        assert (load("X", save_array(raw), kind).view(np.uint8) == bits).all()
    values = bits.view(kind).astype(np.float32)
    above = np.nextafter((values[8] + values[9]) / 2, values[9])
    assert load("X", save_array(np.array([above], F32)), kind)[0] == values[9]
    save([(str(tmp_path / "y.npy"), bits.view(kind))])
    saved = np.load(tmp_path / "y.npy")
    assert saved.dtype == np.float32
    assert (saved == values).all()
