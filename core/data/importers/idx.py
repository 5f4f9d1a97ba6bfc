"""IDX files, the format of MNIST: images or labels, also gzipped."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plaidwork.core.data.importers._column import encode
from plaidwork.core.data.importers._images import check_size, image_head, image_table
from plaidwork.core.data.importers._reader import HEAD, TableReader
from plaidwork.core.data.importers._text import file_stem, open_binary
from plaidwork.core.data.importers.base import ImportOptions, Progress, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MOST_CLASSES = 1000
LABEL = "label"


@dataclass(frozen=True, slots=True)
class _Header:
    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def start(self) -> int:
        """Bytes before the numbers."""
        return 4 + 4 * len(self.shape)


class IdxReader(TableReader):
    """Images (three axes), a matrix (two) or labels (one). Labels in a file beside are joined to images: the file whose name
    has ``labels`` and ``idx1`` for ``images`` and ``idx3``. Options: ``labels`` (false: leave that file alone), and ``kind``
    and the dropping and log options of delimited files."""

    id = "idx"
    title = "IDX (MNIST)"
    suffixes: tuple[str, ...] = ("-ubyte.gz", "-ubyte", ".idx.gz", ".idx")

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """Images with their labels, or labels alone. Raises ``DataError`` for a file that is cut off or no IDX file."""
        header = _header(path)
        count = header.shape[0]
        if head and not count:
            raise DataError(f"{path.name} holds no entries.")
        values = _values(path, header, min(count, HEAD) if head else count)
        labels = self._labels(path, header, options)
        if progress is not None:
            progress(0.7)
        names = default_names("image", count)
        table = {} if labels is None else {LABEL: labels}
        if head:
            images = values if values.ndim == 3 else values.reshape(len(values), 1, -1)
            return image_head(path, images, count, names[:HEAD], table, options)
        stem = file_stem(path)
        if values.ndim == 3:
            return image_table(path, stem, values, names, table, options)
        if values.ndim == 1 and values.dtype.kind in "iu" and len(np.unique(values)) <= _MOST_CLASSES:
            codes, categories = encode([str(value) for value in values.tolist()], ())
            return RawTable(
                path, stem, codes, names, words=("images", ""), categories=categories, in_force=options
            )
        columns = default_names("column", values.shape[1]) if values.ndim == 2 else ()
        return RawTable(path, stem, values.astype(np.float64), names, columns, in_force=options)

    def _labels(self, path: Path, header: _Header, options: ImportOptions) -> np.ndarray | None:
        """Texts from the file of labels beside, when there is one with a label for each image."""
        beside = _beside(path)
        if len(header.shape) != 3 or beside is None or options.get("labels") is False:
            return None
        found = _header(beside)
        if found.shape != header.shape[:1]:
            raise DataError(
                f"{beside.name} has the shape {_text(found.shape)}; {path.name} holds {counted(header.shape[0], 'image')}.",
                "Take the file of labels that belongs to the images, or read the images without labels.",
            )
        return _values(beside, found, found.shape[0]).astype(str)


def _beside(path: Path) -> Path | None:
    """The file of labels that belongs to a file of images, if there is one."""
    if "images" not in path.name:
        return None
    name = path.name.replace("images", "labels").replace("idx3", "idx1")
    stem = name.removesuffix(".gz")
    return next(
        (file for file in (path.with_name(stem), path.with_name(f"{stem}.gz")) if file.is_file()), None
    )


def _text(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))


def _header(path: Path) -> _Header:
    """Type and shape, checked before anything is allocated."""
    try:
        raw, content = open_binary(path)
        with raw:
            magic = content.read(4)
            axes = magic[3] if len(magic) == 4 else 0
            sizes = content.read(4 * axes)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {error}.", "Copy or download it once more.") from error
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES or not 1 <= axes <= 3:
        raise DataError(
            f"{path.name} is no IDX file with one to three axes: it starts with {magic.hex(' ') or 'nothing'}.",
            "Expected two zero bytes, the type of the numbers and the number of axes.",
        )
    if len(sizes) < 4 * axes:
        raise DataError(f"{path.name} ends within its head.", "Copy or download it once more.")
    shape = tuple(int(size) for size in np.frombuffer(sizes, ">u4"))
    check_size(path.name, shape[0], shape[1:])
    return _Header(np.dtype(_TYPES[magic[2]]), shape)


def _values(path: Path, header: _Header, count: int) -> np.ndarray:
    """The first ``count`` entries. Raises ``DataError`` when the file holds fewer, or goes on behind the last."""
    per = int(np.prod(header.shape[1:], dtype=np.int64)) * header.dtype.itemsize
    whole = count == header.shape[0]
    try:
        raw, content = open_binary(path)
        with raw:
            content.read(header.start)
            data = bytearray()
            while part := content.read(min(1 << 20, count * per - len(data))):
                data += part  # in parts: what is announced need not be there
            more = content.read(1) if whole else b""
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} is damaged: {error}.", "Copy or download it once more.") from error
    if len(data) < count * per or more:
        found = "more" if more else f"{len(data) // max(per, 1)}"
        raise DataError(
            f"{path.name} announces {counted(header.shape[0], 'entry')} of {counted(per, 'byte')}, but holds {found}.",
            "Copy or download it once more.",
        )
    return np.frombuffer(data, header.dtype).reshape(count, *header.shape[1:])
