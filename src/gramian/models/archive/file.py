"""Model files: a fitted model as one ``.gramian`` file that can be opened anywhere, without running anything.

The file is a safetensors file: arrays, and a header whose one entry ``gramian`` is JSON with the format's version, the
model's values by the names of the catalog, the names of the columns, the plan, the certificate and a checksum of the
whole file. Opening one makes arrays and frozen values of the catalog, checks them against each other, and does
nothing else, whatever is in the file.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gramian import __version__
from gramian.arrays.namespace import HostArray
from gramian.atomic import atomic_write
from gramian.errors import ModelFileError, NotSupportedError
from gramian.models.archive.catalog import ANY_MODEL, MODELS, refuse, require_agreement
from gramian.models.archive.values import DTYPES, Decoder, Encoder
from gramian.models.kernel_pca.expansion import RowExpansion
from gramian.models.kernel_pca.model import KernelPCAModel
from gramian.sources.dense import DenseRows
from gramian.sources.names import numbered
from gramian.sources.paths import near_name
from gramian.sources.roles import Reading
from gramian.sources.written_numbers import BODIES, NumberFormat

VERSION = 1
"""Of the format. A file of a lower one opens; fields that it lacks have their defaults."""

LARGEST_HEADER = 1 << 24
"""Bytes of the header, at most: names of a million columns."""

_ENTRY = "gramian"
_UNSUMMED = "0" * 64


@dataclass(frozen=True, eq=False)
class Archive:
    """What a model file holds.

    Attributes
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
    names : tuple of str or None
        Of the columns.
    estimator : mapping or None
        Name, parameters and further fields of the estimator that was saved; ``None`` where there was none.
    notes : tuple of str
        Sentences about the table that the model was fitted to.
    written_by : str
        The version of Gramian.
    readings : mapping of str to Reading
        How cells of columns of that table become numbers, where plain casting does not do it.
    id : str, False or None
        The column that named the rows of that table; ``False`` where none did, ``None`` where it is not known.
    """

    model: Any
    names: tuple[str, ...] | None = None
    estimator: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    written_by: str = field(default=__version__)
    readings: Mapping[str, Reading] = field(default_factory=dict)
    id: str | bool | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, or their numbers."""
        return self.names or numbered(self.model.n_columns)


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    estimator: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    copy_rows: bool = False,
    readings: Mapping[str, Reading] | None = None,
    id: str | bool | None = None,  # noqa: A002 - as in as_source
) -> Path:
    """Write a fitted model to a file, whole or not at all.

    A kernel model holds the rows it compares new ones with. Rows in memory are copied into the file; rows that live in
    files of their own only with ``copy_rows=True``, since they may be large.

    Cost: one pass over the arrays to write them and one for the checksum; no second copy in memory.

    Parameters
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
    path : path
        Usually ends in ``.gramian``. An existing file is replaced.
    names : sequence of str, optional
        Of the columns.
    estimator : mapping, optional
        ``name``, ``parameters`` and ``fields`` of the estimator, for ``gramian.load``.
    notes : sequence of str
        Sentences about the table.
    copy_rows : bool, default=False
        Whether rows that live in files may be copied into this one.
    readings : mapping of str to Reading, optional
        How cells of columns become numbers, so that new rows are read as those of the fit were.
    id : str, False or None
        The column that named the rows, so that new ones are named by the same; ``False`` where none did.

    Raises
    ------
    NotSupportedError
        For a model with a function of one's own, which only code could bring back.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> model = fit_pca(as_source(np.random.default_rng(0).standard_normal((20, 3))))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(save(model, f"{folder}/small.gramian"))
    >>> bool((again.components == model.components).all()), again.plan == model.plan
    (True, True)
    """
    if not isinstance(model, ANY_MODEL):
        message = f"A {type(model).__name__} is no model that a file can hold. Pass one that fit_pca or its like gave."
        raise NotSupportedError(message)
    if isinstance(model, KernelPCAModel):
        model = _self_contained(model, copy_rows=copy_rows)
    encoder = Encoder()
    document = {
        "sha256": _UNSUMMED,
        "version": VERSION,
        "written_by": __version__,
        "model": encoder.encode(model, ""),
        "names": None if names is None else list(names),
        "estimator": encoder.encode(estimator, "estimator"),
        "notes": list(notes),
        "readings": {name: asdict(reading) for name, reading in (readings or {}).items()},
        "id": id,
    }
    header = json.dumps(document, allow_nan=False, separators=(",", ":"))
    if len(header) > LARGEST_HEADER // 2:
        message = (
            f"The names and notes of this model are {len(header):,} characters, and a model file holds at most "
            f"{LARGEST_HEADER // 2:,}. Shorten the names of the columns."
        )
        raise NotSupportedError(message)
    with atomic_write(path) as part:
        _write(encoder.arrays, header, part)
    return Path(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the frozen model of a file; ``gramian.load`` returns the estimator.

    Raises
    ------
    ModelFileError
        For a file that is damaged, of a newer format, or no model file.
    """
    return open_archive(path).model


def open_archive(path: str | os.PathLike[str], *, kinds: tuple[type[Any], ...] = MODELS) -> Archive:
    """Return all that a model file holds, checked; a model that is of none of the ``kinds`` is refused.

    Cost: two passes over the file, and its arrays in memory once; a damaged or hostile file is refused before its
    arrays are read.

    Raises
    ------
    ModelFileError
        One kind of error for every fault of the file, whatever it is.
    """
    try:
        return _opened(path, kinds)
    except ModelFileError as error:
        message = f"{os.fspath(path)} is not a usable model file: {error}."
        raise ModelFileError(message, path=os.fspath(path)) from None
    except FileNotFoundError as error:
        message = f"There is no model file {os.fspath(path)!r}{near_name(Path(path))}"
        raise ModelFileError(message, path=os.fspath(path)) from error
    except OSError as error:
        message = f"{os.fspath(path)} cannot be read: {error.strerror or error}."
        raise ModelFileError(message, path=os.fspath(path)) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        message = f"{os.fspath(path)} is not a usable model file: its values do not fit together ({error!r:.80})."
        raise ModelFileError(message, path=os.fspath(path)) from None


def _opened(path: str | os.PathLike[str], kinds: tuple[type[Any], ...]) -> Archive:
    document = _checked_header(path)
    arrays = _read_arrays(path)
    decoder = Decoder(arrays)
    model = decoder.decode(document["model"])
    if not isinstance(model, ANY_MODEL):
        refuse("it holds no model")
    if not isinstance(model, kinds):
        refuse(f"it holds a {type(model).__name__}, which this cannot use; gramian.load opens it in Python")
    require_agreement(model)
    return Archive(
        model,
        _names(document.get("names"), model.n_columns),
        _estimator(document.get("estimator"), decoder),
        _texts(document.get("notes") or []),
        str(document.get("written_by"))[:40],
        {str(name): _reading(node) for name, node in (document.get("readings") or {}).items()},
        _id(document.get("id")),
    )


def _id(value: Any) -> str | bool | None:
    """Return the column that named the rows, False for none."""
    if value is not None and value is not False and not isinstance(value, str):
        refuse("the column that named the rows is no name")
    return value


def _reading(node: Any) -> Reading:
    """Return how the cells of a column are read; signs that no number is written with are refused."""
    style = node["format"]
    if style is not None:
        affixes = (style["currency"], style["unit"])
        if (style["thousands"], style["decimal"]) not in BODIES or not all(len(str(affix)) <= 40 for affix in affixes):
            refuse("its numbers are written in a way that is not known")
        style = NumberFormat(style["thousands"], style["decimal"], *map(str, affixes))
    decimal = node.get("file_decimal")
    if decimal not in (None, ",", "."):
        refuse("the decimal sign of its table is none")
    return Reading(style, tuple(float(value) for value in node["missing"]), decimal)


def _self_contained(model: KernelPCAModel, *, copy_rows: bool) -> KernelPCAModel:
    """Return a kernel model with the rows that it needs and no others; rows in files only where they may be copied."""
    source = model.source
    if model.approximate:
        # New rows are compared with the landmarks, or mapped: nothing needs the rows of the fit.
        return replace(model, source=DenseRows(np.zeros((0, model.n_columns))))
    if isinstance(model.expansion, RowExpansion) and not copy_rows and source.whole is None:
        size = source.n_entries * source.dtype.itemsize
        message = (
            f"A kernel model holds the rows of its fit, and these {source.n_rows:,} live in files of their own "
            f"({size / 1e6:,.0f} MB in memory). Pass copy_rows=True to copy them in, or fit with landmarks."
        )
        raise NotSupportedError(message)
    return model


def _write(arrays: Mapping[str, HostArray], document: str, path: Path) -> None:
    """Write a safetensors file, array after array, and put its checksum in.

    By hand, since it is a length, JSON and bytes: nothing is copied, the same model gives the same bytes, and a full
    disk is an OSError.
    """
    header: dict[str, Any] = {"__metadata__": {_ENTRY: document}}
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    at = 0
    for name in order:
        array = arrays[name]
        offsets = [at, at + array.nbytes]
        header[name] = {"dtype": DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": offsets}
        at = offsets[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb+") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            # Without a copy where the machine is little-endian already.
            file.write(np.ascontiguousarray(arrays[name], dtype=arrays[name].dtype.newbyteorder("<")).reshape(-1).data)
        place = _sum_place(text, _UNSUMMED)
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest.encode())


def _checked_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON of a file that is whole and of a version that is known."""
    with Path(path).open("rb") as file:
        header = _header(file)
        document = _document(header)
        version = document.get("version")
        if isinstance(version, int) and version > VERSION:
            writer = str(document.get("written_by"))[:40]
            refuse(
                f"it has format {version}, written by Gramian {writer}, and Gramian {__version__} reads up to "
                f"{VERSION}; update Gramian to open it"
            )
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            refuse("it names no version of the format")
        said = document.get("sha256")
        if not isinstance(said, str) or len(said) != len(_UNSUMMED):
            refuse("it has no checksum")
        if _digest(file, _sum_place(header, said)) != said:
            refuse("its checksum does not match: the file was damaged or changed after it was written")
    return document


def _header(file: BinaryIO) -> bytes:
    """Return the header of a safetensors file: its length in eight bytes, then JSON."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 10:
        refuse("it is too short to be one")
    if length > min(size - 8, LARGEST_HEADER):
        refuse("it does not begin as a model file does")
    return file.read(length)


def _document(header: bytes) -> dict[str, Any]:
    try:
        outer = json.loads(header)
        document = json.loads(outer["__metadata__"][_ENTRY])
    except (ValueError, KeyError, TypeError):
        refuse("it does not begin as a model file does")
    if not isinstance(document, dict):
        refuse("its header is no list of values")
    return document


def _sum_place(header: bytes, said: str) -> int:
    """Return where in the file the checksum stands: the first value of the document."""
    mark = f'{{\\"sha256\\":\\"{said}\\"'.encode()
    at = header.find(mark)
    if at < 0:
        refuse("it has no checksum where one belongs")
    return 8 + at + mark.index(said.encode())


def _digest(file: BinaryIO, place: int) -> str:
    """Return the SHA-256 of a whole file, zeros standing for the checksum itself."""
    summed = hashlib.sha256()
    file.seek(0)
    summed.update(file.read(place))
    summed.update(_UNSUMMED.encode())
    file.seek(place + len(_UNSUMMED))
    while piece := file.read(1 << 20):
        summed.update(piece)
    return summed.hexdigest()


def _read_arrays(path: str | os.PathLike[str]) -> dict[str, HostArray]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="numpy") as body:
            arrays = {name: body.get_tensor(name) for name in body.keys()}  # noqa: SIM118 - not a mapping
    except SafetensorError as error:
        refuse(f"its arrays cannot be read ({error!s:.80})")
    odd = [name for name, array in arrays.items() if array.dtype.name not in DTYPES]
    if odd:
        refuse(f"its array {odd[0]!r:.40} is of a type that models do not have")
    return arrays


def _names(names: Any, n_columns: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = _texts(names)
    if len(found) != n_columns:
        refuse(f"it has {len(found):,} names for {n_columns:,} columns")
    return found


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        refuse("its names are not text")
    return tuple(values)


def _estimator(node: Any, decoder: Decoder) -> Mapping[str, Any] | None:
    found = decoder.decode(node)
    if found is not None and not isinstance(found, dict):
        refuse("its estimator is no list of values")
    return found
