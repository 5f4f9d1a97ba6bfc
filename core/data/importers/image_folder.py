"""Folders of image files: an image a row, the sub-folder its label."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from plaidwork.core.data.dataset import Source
from plaidwork.core.data.importers._damage import beyond
from plaidwork.core.data.importers._images import check_size, image_head, image_table
from plaidwork.core.data.importers._pictures import Pictures, find_issues, look_at, read_pixels
from plaidwork.core.data.importers._reader import HEAD, TableReader
from plaidwork.core.data.importers.base import ImportOptions, Progress, RawTable
from plaidwork.core.errors import DataError

KINDS = (".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".tif", ".tiff")
LABEL = "label"
_MOST_FILES = 200_000
_LOOKED_AT = 2000


def _files(path: Path) -> Iterator[Path]:
    """Image files of a folder and its sub-folders; hidden ones and links to places outside of it are left out."""
    for file in path.rglob("*"):
        parts = file.relative_to(path).parts
        if (
            file.suffix.lower() in KINDS
            and not any(part.startswith(".") for part in parts)
            and file.is_file()
            and not beyond(path, file)
        ):
            yield file


def holds_images(path: Path) -> bool:
    """Whether a folder has image files, and more of them than texts, among its first entries."""
    if not path.is_dir():
        return False
    images = texts = 0
    for number, file in enumerate(path.rglob("*")):
        images += file.suffix.lower() in KINDS
        texts += file.suffix.lower() == ".txt"
        if number >= _LOOKED_AT:
            break
    return images > texts


class ImageFolderReader(TableReader):
    """PNG, JPEG, BMP, PGM, PPM and TIFF. The sub-folder of a file is its label.

    Options: those of ``image_folder`` in :mod:`plaidwork.core.data.reading_options`. Images of different sizes are refused
    unless ``resize`` is ``scale`` or ``crop``: to ``size`` (``[height, width]``), or without it to the most frequent size
    (scaled) or the smallest height and width (cropped). Images in colour become grey values unless ``colour`` is
    ``colour``, which gives three columns for each pixel.
    """

    id = "image_folder"
    title = "Folder of images"
    suffixes: tuple[str, ...] = ()

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """All images. Raises ``DataError`` that names the file that is damaged, or of another size than the first."""
        files = _listed(path)
        names, labels = _names(path, files)
        heads = look_at(path, files)
        pictures = Pictures.of(heads, options)
        issues = find_issues(path, heads, pictures)
        different = next((issue for issue in issues if issue.severity == "error"), None)
        in_force = {**options, **pictures.options}
        table = {} if labels is None else {LABEL: labels}
        if head:
            first = replace(pictures, resize="scale", size=pictures.usual) if different else pictures
            images = _stack(path, files[:HEAD], first)
            raw = image_head(path, images, len(files), names[:HEAD], table, in_force)
            raw.doubts += issues
            return raw
        if different is not None:
            raise DataError(
                f"{path.name}: {different.message}. {different.detail}.",
                "Choose with the option “resize”: scale or crop; and “size” for another size than the usual one.",
            )
        digest = hashlib.sha256()
        images = _stack(path, files, pictures, progress, digest)
        source = Source(path.name, digest.hexdigest(), in_force)
        return image_table(path, path.name, images, names, table, in_force, source)


def _listed(path: Path) -> list[Path]:
    files = []
    for file in _files(path):
        files.append(file)
        if len(files) > _MOST_FILES:
            raise DataError(
                f"The folder {path.name} holds more than {_MOST_FILES} images.", "Import a part of them."
            )
    if not files:
        raise DataError(f"The folder {path.name} holds no images.", f"Known are: {', '.join(KINDS)}.")
    return sorted(files)


def _names(path: Path, files: list[Path]) -> tuple[list[str], np.ndarray | None]:
    """A name for each file, and its sub-folder where there are several."""
    names = [file.relative_to(path).as_posix() for file in files]
    folders = [file.relative_to(path).parent.as_posix() for file in files]
    return names, np.array(folders, dtype=str) if len(set(folders)) > 1 else None


def _stack(
    path: Path,
    files: list[Path],
    pictures: Pictures,
    progress: Progress | None = None,
    digest: hashlib._Hash | None = None,
) -> np.ndarray:
    """(n, h, w) grey values of files, 0 to 255 (65535 for files of 16 bits); (n, h, w, 3) in colour."""
    images: np.ndarray | None = None
    for number, file in enumerate(files):
        if progress is not None and number % 16 == 0:
            progress(number / len(files))
        pixels = read_pixels(path, file, pictures, digest)
        if images is None:
            check_size(f"The folder {path.name}", len(files), pixels.shape)
            images = np.empty((len(files), *pixels.shape))
        images[number] = pixels
    assert images is not None
    return images
