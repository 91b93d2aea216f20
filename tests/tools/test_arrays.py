"""Arrays in files: element types that NumPy has not, and files that hold something else."""

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.tools.arrays import load, save
from mlir_smem.tools.inputs import InputError

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, I8, I32 = (np.dtype(t) for t in (np.float16, np.float32, np.int8, np.int32))


@pytest.fixture
def stored(tmp_path):
    """Stores an array in a file."""

    def store(array):
        path = tmp_path / "x.npy"
        np.save(path, array)
        return str(path)

    return store


def refused(file, dtype=F32):
    with pytest.raises(InputError) as error:
        load("X", str(file), dtype)
    return str(error.value)


BITS = np.array([[0x3F80, 0xC000], [0x0001, 0x7F80]], np.uint16)


@pytest.mark.parametrize("raw", [np.dtype("V2"), np.dtype(np.uint16), BF16], ids=str)
def test_bf16_as_raw_bytes(stored, raw):
    array = load("X", stored(BITS.view(raw)), BF16)
    assert array.dtype == BF16
    assert array.view(np.uint16).tolist() == BITS.tolist()


@pytest.mark.parametrize("given", [np.float32, np.float64])
@pytest.mark.parametrize(
    "number, rounded",
    [(1.0, 1.0), (1 + 2**-8, 1.0), (1 + 3 * 2**-8, 1 + 2**-6), (1 + 2**-8 + 2**-20, 1 + 2**-7)],
)
def test_bf16_from_wider_numbers_is_rounded_to_nearest_even(stored, given, number, rounded):
    array = load("X", stored(np.array([number], given)), BF16)
    assert (array.dtype, float(array[0])) == (BF16, rounded)


def test_f16_is_rounded_to_nearest_even(stored):
    array = load("X", stored(np.array([1 + 2**-11, 1 + 3 * 2**-11], F32)), F16)
    assert array.astype(float).tolist() == [1.0, 1 + 2**-9]


def test_bf16_from_f64_is_rounded_once(stored):
    # Nearer to the upper neighbour by less than f32 can tell.
    array = load("X", stored(np.array([1 + 2**-8 + 2**-40])), BF16)
    assert float(array[0]) == 1 + 2**-7


def test_f32_from_f64(stored):
    assert load("X", stored(np.array([0.1])), F32).tolist() == [np.float32(0.1)]


@pytest.mark.parametrize("dtype", [F32, F16, I8, I32], ids=str)
def test_the_same_type_is_taken_as_it_is(stored, dtype):
    array = load("X", stored(np.arange(6, dtype=dtype).reshape(2, 3)), dtype)
    assert array.dtype == dtype
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("given", [np.uint16, np.float32, np.float64])
def test_column_major_stays_column_major(stored, given):
    array = load("X", stored(np.asfortranarray(np.ones((4, 3), given))), BF16)
    assert array.strides == (2, 8)


@pytest.mark.parametrize(
    "given, dtype",
    [
        (np.int32, F32),
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
def test_other_types_are_refused(stored, given, dtype):
    path = stored(np.zeros(4, given))
    assert refused(path, dtype) == f"X: {path} has elements of {np.dtype(given)}; expected {dtype}"


def test_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "x.npy"
    assert refused(path) == f"X: {path}: No such file or directory"


def test_a_folder(tmp_path):
    assert refused(tmp_path) == f"X: {tmp_path}: Is a directory"


def test_objects_are_not_unpickled(stored):
    assert "is no .npy file" in refused(stored(np.array([{}], object)))


def test_text(tmp_path):
    path = tmp_path / "x.npy"
    path.write_text("1 2 3\n")
    assert refused(path).startswith(f"X: {path} is no .npy file: ")


def test_a_file_that_is_cut_short(stored):
    path = stored(np.ones(100))
    with open(path, "r+b") as file:
        file.truncate(200)
    assert "is no .npy file" in refused(path)


def test_an_empty_file(tmp_path):
    path = tmp_path / "x.npy"
    path.touch()
    assert "is no .npy file" in refused(path)


def test_an_archive_of_arrays(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.ones(4))
    assert "is no .npy file" in refused(path)


# Saving.


def test_bf16_is_saved_as_f32(tmp_path):
    path = tmp_path / "y.npy"
    save(str(path), BITS.view(BF16))
    found = np.load(path)
    assert found.dtype == np.float32
    assert found.view(np.uint32).tolist() == (BITS.astype(np.uint32) << 16).tolist()


@pytest.mark.parametrize("dtype", [F32, F16, I8, I32], ids=str)
def test_other_types_are_saved_as_they_are(tmp_path, dtype):
    path = tmp_path / "y.npy"
    save(str(path), np.arange(4, dtype=dtype))
    assert np.load(path).dtype == dtype


@pytest.mark.parametrize("name", ["y.npy", "y", "y.bin"])
def test_the_name_is_kept(tmp_path, name):
    save(str(tmp_path / name), np.ones(4))
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("dtype", [F32, BF16, F16], ids=str)
def test_what_is_saved_can_be_loaded(tmp_path, dtype):
    path = str(tmp_path / "y.npy")
    array = np.asfortranarray(np.arange(12).reshape(3, 4).astype(dtype))
    save(path, array)
    found = load("Y", path, dtype)
    assert found.dtype == dtype
    assert (found == array).all()
    assert found.flags.f_contiguous


def test_a_folder_that_is_not_there(tmp_path):
    path = tmp_path / "nowhere" / "y.npy"
    with pytest.raises(InputError) as error:
        save(str(path), np.ones(4))
    assert str(error.value) == f"{path}: No such file or directory"


def test_what_cannot_be_put_in_its_place_leaves_nothing(tmp_path):
    path = tmp_path / "y.npy"
    path.mkdir()
    with pytest.raises(InputError, match="npy: Is a directory"):
        save(str(path), np.ones(4))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_8_bit_floats_are_raw_bytes_or_rounded_and_saved_as_f32(stored, tmp_path, dtype):
    kind = np.dtype(dtype)
    bits = np.arange(16, dtype=np.uint8)
    for raw in (bits, bits.view("V1")):
        assert (load("X", stored(raw), kind).view(np.uint8) == bits).all()
    values = bits.view(kind).astype(np.float64)
    # Halfway between two neighbours and a little more: rounded once, it goes up.
    halfway = (values[8] + values[9]) / 2
    assert load("X", stored(np.array([halfway + 1e-12])), kind)[0] == values[9]
    save(str(tmp_path / "y.npy"), bits.view(kind))
    kept = np.load(tmp_path / "y.npy")
    assert kept.dtype == np.float32
    assert (kept == values).all()
