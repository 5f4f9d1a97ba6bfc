"""What the system refuses, in sentences: a full disk, a right that is missing, a folder in place of a file."""

from __future__ import annotations

import errno
from pathlib import Path

_WHY = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "the disk is full"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "you have no right to"),
    errno.EROFS: "it is on a disk for reading only",
    errno.ENOENT: "it does not exist",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of its path is a file",
}


def why(error: BaseException) -> str:
    """The reason as the end of a sentence; of errors without a number what they say."""
    number = getattr(error, "errno", None)
    if not isinstance(error, OSError) or not number:
        return str(error).rstrip(".")
    reason = (error.strerror or str(error)).rstrip(".")
    return _WHY.get(number, f"{reason[:1].lower()}{reason[1:]}")


def unwritten(error: BaseException) -> str:
    """What is said under a title that names the file that could not be written; of other errors what they say."""
    if not isinstance(error, OSError) or not error.errno:
        return str(error)
    reason = why(error)
    return f"{reason[:1].upper()}{reason[1:]}. Choose another place."


def told(error: OSError) -> str:
    """Which file it is, what is wrong, and what to do; for errors without a number what they say."""
    if not error.errno:
        return str(error)
    name = error.filename2 or error.filename
    what = str(name) if isinstance(name, (str, Path)) else ""
    about = what or "The file"
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return f"The disk is full{f', at {what}' if what else ''}. Free some space, or write elsewhere."
        case errno.EACCES | errno.EPERM:
            return f"{about} cannot be opened or written: {why(error)}. Check its rights, or choose another place."
        case errno.EROFS:
            return f"{about} cannot be written: {why(error)}. Write elsewhere."
        case errno.ENOENT:
            return f"{about} does not exist. Check name and folder."
        case errno.EISDIR:
            return f"{about} is a folder. Name a file."
        case errno.ENOTDIR:
            return f"{about} is in no folder: {why(error)}. Check the path."
        case _:
            return f"{about} cannot be used: {why(error)}. Check the place, or choose another one."
