"""What the system refuses, in sentences: a full disk, a right that is missing, a folder in place of a file."""

from __future__ import annotations

import errno
from pathlib import Path


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
            return f"{about} cannot be opened or written: you have no right to. Check its rights, or choose another place."
        case errno.EROFS:
            return f"{about} cannot be written: it is on a disk for reading only. Write elsewhere."
        case errno.ENOENT:
            return f"{about} does not exist. Check name and folder."
        case errno.EISDIR:
            return f"{about} is a folder. Name a file."
        case errno.ENOTDIR:
            return f"{about} is in no folder: a part of its path is a file. Check the path."
        case _:
            reason = (error.strerror or str(error)).rstrip(".")
            return f"{about} cannot be used: {reason[:1].lower()}{reason[1:]}. Check the place, or choose another one."
