"""Image files as arrays: their sizes and colours looked at first, then scaled, cropped and read as asked for."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

MOST_SIDE = 2048
_LISTED = 50
Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of an image file says: (height, width), and whether it is in colour."""

    file: Path
    size: Size
    colour: bool


def look_at(path: Path, files: Sequence[Path]) -> list[Head]:
    """The heads of image files; their pixels are not read. Raises ``DataError`` for a damaged file."""
    heads = []
    for file in files:
        with _opened(path, file) as image:
            wide, high = image.size
            if max(wide, high) > MOST_SIDE:
                name = file.relative_to(path).as_posix()
                raise DataError(
                    f"{name} has {high} × {counted(wide, 'pixel')}; {MOST_SIDE} a side can be read."
                )
            coloured = image.mode in ("RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "P", "PA")
            heads.append(Head(file, (high, wide), coloured))
    return heads


@dataclass(frozen=True, slots=True)
class Pictures:
    """How images are read: ``size`` is the one that all get, ``usual`` the most frequent one."""

    resize: str
    size: Size
    usual: Size
    colour: bool

    @classmethod
    def of(cls, heads: Sequence[Head], options: ImportOptions) -> Pictures:
        """What the options ask for. Raises ``DataError`` for a size that cannot be."""
        usual = Counter(head.size for head in heads).most_common(1)[0][0]
        resize, given = options.get("resize") or "", options.get("size")
        smallest = min(head.size[0] for head in heads), min(head.size[1] for head in heads)
        size = smallest if resize == "crop" else usual
        if given is not None:
            sides = [int(side) for side in given] if isinstance(given, (list, tuple)) else []
            if len(sides) != 2 or not all(1 <= side <= MOST_SIDE for side in sides):
                raise DataError(f"size needs height and width from 1 to {MOST_SIDE}. Found “{given}”.")
            size, resize = (sides[0], sides[1]), resize or "scale"
        return cls(resize, size, usual, options.get("colour") == "colour")

    @property
    def options(self) -> dict[str, Any]:
        """The options in force, so that the same folder is read the same again."""
        found: dict[str, Any] = {"colour": "colour" if self.colour else "grey"}
        return {**found, "resize": self.resize, "size": list(self.size)} if self.resize else found


def find_issues(path: Path, heads: Sequence[Head], options: Pictures) -> list[Issue]:
    """Images of other sizes than most, images too small to be cropped, and colours that are given up."""
    issues = []
    other = [head for head in heads if head.size != options.usual]
    small = [head for head in heads if head.size[0] < options.size[0] or head.size[1] < options.size[1]]
    if other and not options.resize:
        issues.append(_size_issue(path, heads, other, options))
    elif small and options.resize == "crop":
        verb = agree(len(small), "is smaller", "are smaller")
        fix = ("Scale them all", "resize", "scale")
        message = f"{counted(len(small), 'image')} {verb} than {_times(options.size)}"
        places = tuple(_location(path, head) for head in small[:_LISTED])
        issues.append(Issue("error", message, f"First: {places[0]}", 0, 0, fix, None, places))
    coloured = [head for head in heads if head.colour]
    if coloured and not options.colour:
        verb = agree(len(coloured), "is", "are")
        message = f"{counted(len(coloured), 'image')} {verb} in colour and read as grey values"
        places = tuple(_location(path, head) for head in coloured[:_LISTED])
        fix = ("Keep red, green and blue", "colour", "colour")
        issues.append(Issue("warning", message, f"First: {places[0]}", 0, 0, fix, None, places))
    return issues


def _size_issue(path: Path, heads: Sequence[Head], other: Sequence[Head], options: Pictures) -> Issue:
    smallest = min(head.size[0] for head in heads), min(head.size[1] for head in heads)
    verb = agree(len(other), "has", "have")
    places = tuple(_location(path, head) for head in other[:_LISTED])
    return Issue(
        "error",
        f"{counted(len(other), 'image')} of {len(heads)} {verb} another size than {_times(options.usual)}",
        f"First: {places[0]}",
        fix=(f"Scale all to {_times(options.usual)}", "resize", "scale"),
        other=(f"Crop all to {_times(smallest)}", "resize", "crop"),
        places=places,
    )


def _times(size: Size) -> str:
    return f"{size[0]} × {size[1]}"


def _location(path: Path, head: Head) -> str:
    return f"{head.file.relative_to(path).as_posix()} ({_times(head.size)} pixels)"


def read_pixels(path: Path, file: Path, options: Pictures, digest: hashlib._Hash | None) -> np.ndarray:
    """(h, w) grey values, or (h, w, 3), of the size asked for. Raises ``DataError`` for a damaged file."""
    from PIL import Image

    if digest is not None:
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode() + file.read_bytes())
    with _opened(path, file) as image:
        deep = image.mode.startswith("I") or image.mode == "F"
        pixels = image.convert("RGB") if options.colour else image if deep else image.convert("L")
        high, wide = options.size
        if options.resize == "scale" and pixels.size != (wide, high):
            pixels = pixels.resize((wide, high), Image.Resampling.BILINEAR)
        elif options.resize == "crop":
            left, top = (pixels.size[0] - wide) // 2, (pixels.size[1] - high) // 2
            pixels = pixels.crop((left, top, left + wide, top + high))
        return np.asarray(pixels, dtype=np.float64)


class _opened:
    """An image file, with every fault in it raised as a ``DataError`` (decoders raise almost anything)."""

    def __init__(self, path: Path, file: Path) -> None:
        self._name, self._file = file.relative_to(path).as_posix(), file

    def __enter__(self) -> Any:
        from PIL import Image

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                self._image = Image.open(self._file)
        except Exception as error:
            raise self._data_error(error) from error
        return self._image

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._image.close()
        if isinstance(error, Exception) and not isinstance(error, DataError):
            raise self._data_error(error) from error

    def _data_error(self, error: Exception) -> DataError:
        return DataError(
            f"{self._name} is no image, or is damaged: {error}.", "Copy it once more, or leave it out."
        )
