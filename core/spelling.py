"""Names that are the same but for spelling; titles within sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SIGNS = re.compile(r"[\s._\-–‐]+")


def folded(name: str) -> str:
    """A name without case, blanks and the signs that programs put in place of each other (``-``, ``.``, ``_``)."""
    bare = _SIGNS.sub("", name.casefold())
    return bare[1:] if re.match(r"x\d", bare) else bare  # R puts an X before names that begin with a digit


def near_misses(names: Sequence[str], known: Iterable[str]) -> dict[str, str]:
    """Names that are not among the known ones but differ from one of them in spelling only: name to known name.

    Names whose folded form is shared by others of their own list, or by several free known names, are left out.
    """
    pool = dict.fromkeys(known)
    own = set(names)
    free: dict[str, list[str]] = {}
    for name in pool:
        if name not in own:
            free.setdefault(folded(name), []).append(name)
    lost: dict[str, list[str]] = {}
    for name in names:
        if name not in pool:
            lost.setdefault(folded(name), []).append(name)
    return {
        entry[0]: free[key][0]
        for key, entry in lost.items()
        if key and len(entry) == 1 and len(free.get(key, ())) == 1
    }


def inside_sentence(title: str) -> str:
    """A title as it stands within a sentence: with a small letter, unless it begins with an abbreviation."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]
