"""A folder of images of one size: each image is a row, each pixel a column."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT32
from gramian.errors import InputError
from gramian.sources.row_file import FileVersion, RowFile, require_package


class ImageFiles(RowFile):
    """Images of one size, in the order of their names: a number per pixel of gray ones, red, green and blue of others.

    float32, from 0 to the largest value of the file's own type. Cost of a pass: decoding every image.
    """

    dtype = FLOAT32

    def __init__(self, paths: Sequence[Path], origin: str) -> None:
        self._paths, self.origin = tuple(paths), origin
        self.versions: tuple[FileVersion, ...] = ()
        self._versions = tuple(FileVersion.of(path) for path in paths)
        self.picture = _pixels(self._paths[0]).shape
        self.row_shape = self.picture
        self.shape = (len(self._paths), int(np.prod(self.picture)))

    @property
    def known_by(self) -> tuple[FileVersion, ...]:
        """Every image."""
        return self._versions

    def read(self, rows: slice) -> HostArray:
        """Decode some consecutive images."""
        out = np.empty((rows.stop - rows.start, self.shape[1]), dtype=self.dtype)
        for i in range(rows.start, rows.stop):
            pixels = _pixels(self._paths[i])
            # Each image is checked when it is read: not thousands of them for every window.
            self._versions[i].require_unchanged()
            if pixels.shape != self.picture:
                _refuse_size(self._paths[i], pixels.shape, self._paths[0], self.picture)
            out[i - rows.start] = pixels.reshape(-1)
        return out

    def locate(self, row: int) -> tuple[str, int]:
        """Return the image."""
        return str(self._paths[row]), 0


def _pixels(path: Path) -> Any:
    Image = require_package("PIL.Image", f"{path} is an image", extra="images", called="Pillow")
    try:
        with Image.open(path) as image:
            gray = image.mode in ("L", "1", "I", "F", "I;16")
            return np.asarray(image if gray else image.convert("RGB"), dtype=FLOAT32)
    except (OSError, SyntaxError) as error:  # Pillow's own errors are OSErrors
        message = f"{path} is no image, or it is damaged or cut short ({error}). Mend it or take it out of the folder."
        raise InputError(message) from error


def _refuse_size(path: Path, shape: tuple[int, ...], first: Path, wanted: tuple[int, ...]) -> None:
    message = (
        f"{path} has {_size(shape)} pixels, and {first.name} beside it has {_size(wanted)}. Bring all images to one "
        "size and one kind of color."
    )
    raise InputError(message)


def _size(shape: tuple[int, ...]) -> str:
    return f"{shape[1]} x {shape[0]} {'gray' if len(shape) == 2 else 'color'}"
