"""Folders of images as rows."""

import numpy as np
import pytest

from gramian import PCA
from gramian.errors import InputError, ParameterError
from gramian.sources import as_source

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(name="pictures")
def gray_pictures():
    """Twelve gray pictures of 5 x 4 pixels."""
    return np.random.default_rng(0).integers(0, 256, size=(12, 4, 5)).astype(np.uint8)


def save(folder, pictures, end=".png"):
    """Write pictures under names that sort as they come."""
    for i, picture in enumerate(pictures):
        Image.fromarray(picture).save(folder / f"{i:03d}{end}")
    return folder


@pytest.mark.parametrize("end", [".png", ".bmp", ".tiff"])
def test_a_row_is_an_image_and_a_column_a_pixel(tmp_path, pictures, end):
    """Gray pictures come out as they went in, flattened, in the order of their names."""
    source = as_source(save(tmp_path, pictures, end))
    assert (source.n_rows, source.n_columns, source.dtype) == (12, 20, np.float32)
    np.testing.assert_array_equal(source.map_rows(lambda block: block.rows), pictures.reshape(12, -1))
    flat = pictures.reshape(12, -1).astype(np.float32)
    np.testing.assert_allclose(
        PCA(2).fit(tmp_path).explained_variance_, PCA(2).fit(flat).explained_variance_, rtol=1e-5
    )


def test_colors_are_columns_too(tmp_path):
    """A color picture has three numbers a pixel."""
    pictures = np.random.default_rng(1).integers(0, 256, size=(3, 4, 5, 3)).astype(np.uint8)
    source = as_source(f"{save(tmp_path, pictures)}/*.png")
    np.testing.assert_array_equal(source.map_rows(lambda block: block.rows), pictures.reshape(3, -1))


def test_images_of_another_size_or_damaged_are_named(tmp_path, pictures):
    """The picture that does not fit is named, with both sizes; a broken one by its name."""
    save(tmp_path, pictures)
    Image.fromarray(np.zeros((7, 3), np.uint8)).save(tmp_path / "zzz.png")
    with pytest.raises(InputError, match=r"zzz\.png has 3 x 7 gray pixels, and 000\.png beside it has 5 x 4 gray"):
        PCA().fit(tmp_path)
    (tmp_path / "zzz.png").write_bytes(b"\x89PNG no more")
    with pytest.raises(InputError, match=r"zzz\.png is no image, or it is damaged"):
        PCA().fit(tmp_path)


def test_images_have_no_columns_to_choose(tmp_path, pictures):
    """Names of columns mean nothing for pixels."""
    with pytest.raises(ParameterError, match="columns has no meaning"):
        as_source(save(tmp_path, pictures), columns="a")
