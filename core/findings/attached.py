"""Files that an analysis reads: what it asks for, and the file as it was, kept with the record."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.data.importers._text import compression_error
from plaidwork.core.errors import DataError

MOST_BYTES = 32 << 20
_MOST_TEXT = 256 << 20
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A file that an analysis asks for. A copy is kept with what was found, so ``most_bytes`` bounds it.

    ``suffixes`` are the endings offered, such as ``.gmt``; other files can be chosen as well.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    label: str = ""
    doc: str = ""
    required: bool = True
    most_bytes: int = MOST_BYTES

    def __post_init__(self) -> None:
        object.__setattr__(self, "suffixes", tuple(self.suffixes))
        if not self.name.isidentifier():
            raise DeclarationError(f"file name {self.name!r} is not an identifier")
        wrong = [suffix for suffix in self.suffixes if not suffix.startswith(".")]
        if wrong:
            raise DeclarationError(f"{self.name}: suffix {wrong[0]!r} has no leading dot")

    @property
    def title(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """The bytes of a file with its name (without folder) and their SHA-256."""

    name: str
    sha256: str
    content: bytes = field(repr=False)

    @classmethod
    def of(cls, name: str, content: bytes) -> AttachedFile:
        """Bytes under a name."""
        return cls(name, hashlib.sha256(content).hexdigest(), content)

    @property
    def is_intact(self) -> bool:
        """Whether the bytes are those of the checksum."""
        return hashlib.sha256(self.content).hexdigest() == self.sha256

    def text(self) -> str:
        """The content as UTF-8, uncompressed when it is gzipped. Raises ``DataError`` with the place of a wrong byte."""
        content = self._uncompressed() if self.content.startswith(_GZIP) else self.content
        if len(content) > _MOST_TEXT:
            raise DataError(
                f"{self.name} holds more than {_MOST_TEXT >> 20} MiB of text.", "Take a part of it."
            )
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{self.name} is not UTF-8 text: byte 0x{content[error.start]:02X} at position {error.start + 1}, "
                f"line {line}.",
                "Save it as UTF-8 text.",
            ) from None

    def _uncompressed(self) -> bytes:
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(self.content)) as file:
                return file.read(_MOST_TEXT + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise compression_error(Path(self.name), error) from error


def attach(request: FileRequest, path: str | Path) -> AttachedFile:
    """Read a file for a request. Raises ``DataError`` when it is not there, is empty or too large."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise DataError(f"“{request.title}”: {path} does not exist.", "Check the name and the folder.")
    size = path.stat().st_size
    if size > request.most_bytes:
        raise DataError(
            f"“{request.title}”: {path.name} has {size / (1 << 20):.1f} MiB, at most "
            f"{request.most_bytes / (1 << 20):g} MiB are kept with an analysis.",
            "Take a part of it.",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"“{request.title}”: {path} cannot be read: {error.strerror}.") from error
    if not content.strip():
        raise DataError(f"“{request.title}”: {path.name} is empty.")
    return AttachedFile.of(path.name, content)
