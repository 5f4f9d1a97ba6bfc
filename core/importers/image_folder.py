"""Folders of image files: an image a row, the sub-folder its label."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from plaidwork.core.dataset import Dataset, Source
from plaidwork.core.errors import DataError
from plaidwork.core.importers._images import HEAD, check_size, image_dataset, image_preview, refused
from plaidwork.core.importers.base import ImportOptions, Preview, Progress

KINDS = (".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm", ".tif", ".tiff")
LABEL = "label"
_MOST_FILES, _MOST_SIDE = 200_000, 2048
_LOOKED_AT = 2000


def _files(path: Path) -> Iterator[Path]:
    """Image files of a folder and its sub-folders; hidden ones and those behind links to folders are left out."""
    for file in path.rglob("*"):
        parts = file.relative_to(path).parts
        if (
            file.suffix.lower() in KINDS
            and not any(part.startswith(".") for part in parts)
            and file.is_file()
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


class ImageFolderReader:
    """PNG, JPEG, BMP, PGM, PPM and TIFF in grey. All have to be of one size, unless ``size`` (``[height, width]``) says to which
    they are scaled. The sub-folder of a file is its label. Further options: ``kind`` and the dropping and log options of
    delimited files."""

    id = "image_folder"
    title = "Folder of images"
    suffixes: tuple[str, ...] = ()

    def preview(self, path: Path, options: ImportOptions) -> Preview:
        """The first images."""
        path = Path(path)
        try:
            files = _listed(path)
            names, labels = _names(path, files)
            images = _stack(path, files[:HEAD], options)
        except DataError as error:
            return refused(path, options, error)
        shown = {LABEL: labels[:HEAD]} if labels is not None else {}
        return image_preview(path, images, len(files), names[:HEAD], shown, options)

    def read(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> Dataset:
        """All images. Raises ``DataError`` that names the file that is damaged, or of another size than the first."""
        path = Path(path)
        files = _listed(path)
        names, labels = _names(path, files)
        digest = hashlib.sha256()
        images = _stack(path, files, options, progress, digest)
        source = Source(path.name, digest.hexdigest(), dict(options))
        table = {} if labels is None else {LABEL: labels}
        return image_dataset(path, path.name, images, names, table, options, source)


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
    options: ImportOptions,
    progress: Progress | None = None,
    digest: hashlib._Hash | None = None,
) -> np.ndarray:
    """(n, h, w) grey values of files, 0 to 255 (65535 for files of 16 bits)."""
    size = options.get("size")
    wanted: tuple[int, int] | None = None
    if size is not None:
        sides = [int(side) for side in size] if isinstance(size, (list, tuple)) else []
        if len(sides) != 2 or not all(1 <= side <= _MOST_SIDE for side in sides):
            raise DataError(f"size needs height and width from 1 to {_MOST_SIDE}. Found “{size}”.")
        wanted = sides[0], sides[1]
    images: np.ndarray | None = None
    for number, file in enumerate(files):
        if progress is not None and number % 16 == 0:
            progress(number / len(files))
        grey = _grey(path, file, wanted, digest)
        if images is None:
            check_size(f"The folder {path.name}", len(files), grey.shape)
            images = np.empty((len(files), *grey.shape))
        if grey.shape != images.shape[1:]:
            first, own = (f"{high} × {wide}" for high, wide in (images.shape[1:], grey.shape))
            raise DataError(
                f"{file.relative_to(path).as_posix()} has {own} pixels; {files[0].relative_to(path).as_posix()} has {first}.",
                "Scale the images to one size, or give the option “size”.",
            )
        images[number] = grey
    assert images is not None
    return images


def _grey(path: Path, file: Path, size: tuple[int, int] | None, digest: hashlib._Hash | None) -> np.ndarray:
    from PIL import Image

    name = file.relative_to(path).as_posix()
    try:
        if digest is not None:
            digest.update(f"{name}\0".encode() + file.read_bytes())
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file) as image:
                if max(image.size) > _MOST_SIDE:
                    wide, high = image.size
                    raise DataError(f"{name} has {high} × {wide} pixels; {_MOST_SIDE} a side can be read.")
                deep = image.mode.startswith("I") or image.mode == "F"
                grey = image if deep else image.convert("L")
                if size is not None:
                    grey = grey.resize(size[::-1], Image.Resampling.BILINEAR)
                return np.asarray(grey, dtype=np.float64)
    except DataError:
        raise
    except Exception as error:  # a damaged image makes its decoder raise almost anything
        raise DataError(
            f"{name} is no image, or is damaged: {error}.", "Copy it once more, or leave it out."
        ) from error
