"""The references of a run as BibTeX, read from citations such as “Neal, R. M. (2000). Title. Journal 9, 249-265.”"""

from __future__ import annotations

import re
from collections.abc import Iterable

_CITATION = re.compile(r"(?P<authors>.+?) \((?P<year>\d{4})\)\. (?P<title>.+?)\. (?P<place>.+?)\.?")
_ARTICLE = re.compile(r"(?P<journal>.+?) (?P<volume>\d+), (?P<pages>\w+(?:-\w+)?)")
_PAGES = re.compile(r"(?P<booktitle>.+), (?P<pages>\d+-\d+)")
_MEETING = ("proceedings", "conference", "workshop", "advances in")
_SPECIAL = re.compile(r"[\\{}$&#^_%~]")


def bibtex(references: Iterable[str]) -> str:
    """An entry for each reference, with a key of its own; one that is not of the usual form is kept whole as a note.

    Capitals of titles are kept. What BibTeX would take for a command is written as text.
    """
    taken: set[str] = set()
    return (
        "\n\n".join(_entry(reference.strip(), taken) for reference in references if reference.strip()) + "\n"
    )


def _entry(reference: str, taken: set[str]) -> str:
    found = _CITATION.fullmatch(reference)
    if found is None:
        return _written("misc", _key("reference", taken), {"note": reference})
    authors = _authors(found["authors"])
    kind, fields = _place(found["place"])
    word = next((word for word in re.findall(r"[a-z]+", found["title"].lower()) if len(word) > 3), "")
    family = "".join(re.findall(r"[a-z]+", authors[0].partition(",")[0].lower()))
    key = _key(f"{family}{found['year']}{word}", taken)
    about = {"author": " and ".join(authors), "title": found["title"], "year": found["year"]}
    return _written(kind, key, about | fields)


def _authors(text: str) -> list[str]:
    """“Family, I. N.” of each; the last is “others” where not all are named."""
    parts = [part for part in re.split(r", (?:& |and )?| and ", text) if part]
    found: list[str] = []
    for part in parts:
        if part in ("et al.", "et al"):
            found.append("others")
        elif "." in part and found:
            found[-1] += f", {part}"
        else:
            found.append(part)
    return found


def _place(text: str) -> tuple[str, dict[str, str]]:
    """Kind of entry, and where it was published."""
    meeting = any(word in text.casefold() for word in _MEETING)
    if not meeting and (article := _ARTICLE.fullmatch(text)):
        return "article", article.groupdict()
    if meeting or text.isupper():
        pages = _PAGES.fullmatch(text)
        return "inproceedings", pages.groupdict() if pages else {"booktitle": text}
    if text.endswith("Press"):
        return "book", {"publisher": text}
    return "misc", {"howpublished": text}


def _key(wanted: str, taken: set[str]) -> str:
    key, number = wanted, 1
    while key in taken:
        number += 1
        key = f"{wanted}{number}"
    taken.add(key)
    return key


def _written(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = []
    for name, value in fields.items():
        text = _SPECIAL.sub(_plain, value)
        if name == "pages":
            text = text.replace("-", "--")
        lines.append(f"  {name} = {{{{{text}}}}}," if name == "title" else f"  {name} = {{{text}}},")
    return "\n".join((f"@{kind}{{{key},", *lines, "}"))


def _plain(found: re.Match[str]) -> str:
    named = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return named.get(found[0], f"\\{found[0]}")
