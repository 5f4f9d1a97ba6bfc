"""Data that stay in a file of their own: a session names the file, and reads the cells from there when they are needed.

A file is known by its size and SHA-256, and what comes out of it by the digest of the dataset. Only the built-in readers
read it, and only this file: options that name others (annotations) are not used, as a session keeps its annotations itself.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.importers._text import file_sha256
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.deferred import Deferred
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, PlaidworkError, SessionError
from plaidwork.core.quoting import line

_ELSEWHERE = {"annotations", "rename_rows", "samples_in"}
"""Options that change no value; the first names other files."""
_LONGEST = 4096


@dataclass(slots=True)
class Link:
    """The file of a dataset, how it is read, and what must come out.

    ``name`` is that of the dataset, ``sparse`` the bytes of its values where they are sparse (else -1). A link that is not
    ``allowed`` came with a file of somebody else: nothing of it is touched before the user says so.
    """

    name: str
    file: Path
    size: int
    time: int
    """Of its last change, in ns since 1970; told, not compared."""
    sha256: str
    digest: str
    options: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    sparse: int = -1
    allowed: bool = True

    @staticmethod
    def to(dataset: Dataset, file: Path) -> Link:
        """To the file that the dataset was imported from. Raises ``PlaidworkError`` unless the same values come out of it."""
        options = {key: value for key, value in dataset.source.options.items() if key not in _ELSEWHERE}
        found = file.stat()
        sparse = dataset.nbytes if dataset.is_sparse else -1
        link = Link(
            dataset.name, Path(os.path.abspath(file)), found.st_size, found.st_mtime_ns, dataset.source.sha256,
            dataset.digest(), options, dataset.steps, sparse,
        )  # fmt: skip
        link.values(dataset)
        return link

    @staticmethod
    def staying(dataset: Dataset, cells: InFile | SparseInFile) -> Link:
        """To the file in which the values of a dataset stay; nothing is compared, as the file is still what was imported."""
        options = {key: value for key, value in dataset.source.options.items() if key not in _ELSEWHERE}
        return Link(
            dataset.name, Path(os.path.abspath(cells.path)), *cells.stamp, dataset.source.sha256, dataset.digest(),
            options, dataset.steps, cells.nbytes if cells.sparse else -1,
        )  # fmt: skip

    @property
    def stays(self) -> bool:
        """Whether the values stay in the file when somebody needs them."""
        turned = all(step.name == "transpose" for step in self.steps)
        return self.options.get("values_in") == "file" and turned

    @property
    def fault(self) -> str:
        """What is wrong with the file as far as its place, kind and size tell; empty when nothing is."""
        try:
            found = self.file.stat()
        except OSError:
            return f"{line(str(self.file))} was not found."
        if not stat.S_ISREG(found.st_mode):
            return f"{line(str(self.file))} is not a file."
        if found.st_size != self.size:
            return f"{line(str(self.file))} has changed: it has {counted(found.st_size, 'byte')}, and had {self.size}."
        return ""

    def check(self, file: Path | None = None) -> None:
        """Compare the file (or another one) with what it was. Raises ``SessionError`` that names it, and what is to be done."""
        other = (
            self if file is None else Link(self.name, file, self.size, self.time, self.sha256, self.digest)
        )
        what, hint = (
            f"The values of “{self.name}” cannot be read: ",
            "Find the file, or put it back as it was.",
        )
        try:
            fault = other.fault
            if not fault and file_sha256(other.file) != self.sha256:
                fault = f"{line(str(other.file))} has changed: its content is not what it was."
        except OSError as error:
            fault = f"{error}."
        if fault:
            raise SessionError(what + fault, hint)

    def values(self, described: Dataset) -> Any:
        """The values, read from the file, of the dataset that is described; what reads them where they stay there.

        Raises ``SessionError``.
        """
        if not self.allowed:
            raise SessionError(
                f"The values of “{self.name}” are in {line(str(self.file))}. The session was made elsewhere, so that "
                "this file is read only once you say so.",
                "In the window: Read these files. On the command line: plaidwork copy --embed.",
            )
        self.check()
        try:
            read = self._read()
            found = read.staying if self.stays and read.stays else read.values
            made = described.with_(values=found)
            same = made.is_sparse == (self.sparse >= 0) and made.digest() == self.digest
        except PlaidworkError as error:
            raise SessionError(
                f"The values of “{self.name}” cannot be read: {error.message}", error.hint
            ) from error
        if not same:
            raise SessionError(f"{line(self.file.name)} does not give the values of “{self.name}” any more.")
        return found

    def _read(self) -> Dataset:
        from plaidwork.core.data.importers.reading import find_reader, is_text_import
        from plaidwork.core.data.reading_options import checked_options
        from plaidwork.core.data.transforms import apply_steps

        if is_text_import(self.options):
            raise DataError("they were counted in texts.")
        reader = find_reader(self.file)
        options = dict(self.options)
        if reader.id == "idx":
            options["labels"] = False  # they are in a file beside it
        return apply_steps(reader.read(self.file, checked_options(reader.id, options)), self.steps)

    def staying_cells(self) -> InFile | None:
        """What goes through the file, which is not compared with what it was. Raises ``DataError``."""
        from plaidwork.core.data.importers.reading import find_reader

        staying = getattr(find_reader(self.file), "staying", None)
        found: InFile | None = staying(self.file, self.options) if staying is not None else None
        turned = len(self.steps) % 2 != bool(self.options.get("transpose"))
        return found.T if found is not None and turned else found

    # -- in a session file -----------------------------------------------------------------------
    def record(self, folder: Path) -> dict[str, Any]:
        """For JSON in a session file of ``folder``. Raises ``SessionError`` for a file on another drive."""
        try:
            path = Path(os.path.relpath(self.file, folder.resolve())).as_posix()
        except ValueError as error:
            raise SessionError(
                f"{self.file} is on another drive than the session.", "Save the session beside it."
            ) from error
        steps = [{"name": step.name, "options": dict(step.options)} for step in self.steps]
        record = {
            name: getattr(self, name) for name in ("size", "time", "sha256", "digest", "sparse", "allowed")
        }
        return {"path": path, **record, "options": dict(self.options), "steps": steps}

    @staticmethod
    def from_record(name: str, record: Any) -> Link:
        """What :meth:`record` gave; ``file`` is relative until :meth:`place`. Raises ``SessionError``."""
        try:
            path, options = str(record["path"]), dict(record["options"])
            steps = tuple(Step(str(one["name"]), dict(one["options"])) for one in record["steps"])
            numbers = [int(record[key]) for key in ("size", "time", "sparse")]
        except (TypeError, KeyError, ValueError) as error:
            raise SessionError(f"what it tells of the file of “{name}” is not what was expected.") from error
        pure = PurePosixPath(path)
        if (
            pure.is_absolute()
            or not path.isprintable()
            or set(path) & set('\\:*?"<>|')
            or len(path) > _LONGEST
        ):
            raise SessionError(f"the file of “{name}” is not named by a path from the session to it.")
        return Link(
            name, Path(*pure.parts), numbers[0], numbers[1], str(record["sha256"]), str(record["digest"]),
            options, steps, numbers[2], record.get("allowed") is True,
        )  # fmt: skip

    def place(self, folder: Path, *, ours: bool) -> None:
        """Find the file from the folder of the session; another session's is not even looked for."""
        relative, self.allowed = self.file, self.allowed and ours
        self.file = Path(os.path.abspath(folder / relative))
        if self.allowed and not self.file.exists() and (folder / relative.name).is_file():
            self.file = Path(os.path.abspath(folder / relative.name))

    def look_in(self, folders: Iterable[Path]) -> None:
        """Take the file of this name and content from one of the folders, where there is one."""
        for folder in folders:
            file = folder / self.file.name
            if file.is_file() and file.stat().st_size == self.size and file_sha256(file) == self.sha256:
                self.file = Path(os.path.abspath(file))
                return


class LinkedValues(Deferred):
    """The values of a dataset that lie in a file of their own; of which they are read as a whole, or stay there."""

    def __init__(self, link: Link, shape: tuple[int, ...]) -> None:
        super().__init__(shape, float, self._of_file, nbytes=link.sparse, sparse=link.sparse >= 0)
        self.link = link
        self.described: Dataset | None = None
        """The dataset that these are of."""

    @property
    def stays(self) -> bool:  # type: ignore[override]
        return self.link.stays

    def _of_file(self) -> Any:
        assert self.described is not None
        return self.link.values(self.described)

    def cells(self) -> InFile | SparseInFile:
        """What goes through the file, or has mapped it, once it was compared with what it was. Raises ``SessionError``."""
        found = super().get()
        assert isinstance(found, (InFile, SparseInFile))
        return found

    def get(self) -> Any:
        return self.cells().get() if self.stays else super().get()

    def every(self, step: int) -> Any:
        """Of a file that nobody has written to since, as its time tells; no rows are read of others before all are compared."""
        if not self.stays:
            return super().every(step)
        found = self._uncompared()
        return None if found is None else found.every(step)

    @property
    def row_cost(self) -> int:
        found = self._uncompared() if self.stays else None
        return super().row_cost if found is None else found.row_cost

    def _uncompared(self) -> InFile | None:
        """What goes through a file that nobody has written to since, as its time tells; nothing but its head is read."""
        link = self.link
        if not link.allowed or link.fault or link.file.stat().st_mtime_ns != link.time:
            return None
        return link.staying_cells()


def link_of(
    dataset: Dataset, links: Mapping[str, Link], digest: Callable[[], str] | None = None
) -> Link | None:
    """The file that holds just these values, where there is one; ``digest`` gives that of the dataset, where it is kept."""
    if isinstance(dataset.held, LinkedValues):
        return dataset.held.link
    held = dataset.held
    if isinstance(held, InFile) or (isinstance(held, SparseInFile) and held.whole):
        return Link.staying(dataset, held)
    return links.get((digest or dataset.digest)()) if links else None


def links_of(datasets: Iterable[Dataset]) -> dict[str, Link]:
    """The links of datasets that were just read, by digest."""
    held = (dataset.held for dataset in datasets)
    return {one.link.digest: one.link for one in held if isinstance(one, LinkedValues)}


def read_linked(name: str, record: Any, shape: tuple[int, ...]) -> LinkedValues:
    """Values that stay in the file of a stored link. Raises ``SessionError``."""
    if not 1 <= len(shape) <= 2 or math.prod(shape) < 0:
        raise SessionError(f"“{name}” has the shape {shape}, expected rows and columns.")
    return LinkedValues(Link.from_record(name, record), shape)
