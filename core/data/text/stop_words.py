"""Lists of stop words that come with Plaidwork, and stemmers by language."""

from __future__ import annotations

from functools import cache

from plaidwork.core.errors import SettingError
from plaidwork.core.resources import RESOURCES

_FOLDER = RESOURCES / "stop_words"


@cache
def stop_word_languages() -> tuple[str, ...]:
    """Languages with a list, in lower case, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.txt")))


@cache
def stop_word_list(language: str) -> tuple[str, ...]:
    """The words of a language, lower case, sorted. Raises ``SettingError`` for a language without a list."""
    if language not in stop_word_languages():
        raise SettingError(
            f"There is no list of stop words for “{language}”.", f"Known: {', '.join(stop_word_languages())}."
        )
    return tuple((_FOLDER / f"{language}.txt").read_text(encoding="utf-8").split())


@cache
def stem_languages() -> tuple[str, ...]:
    """Languages with a Snowball stemmer, in lower case, sorted."""
    import snowballstemmer

    return tuple(sorted(set(snowballstemmer.algorithms()) - {"porter", "dutch_porter"}))


def stem_words(language: str, words: list[str]) -> list[str]:
    """The stem of every word (Snowball algorithms). Raises ``SettingError`` for a language without a stemmer."""
    import snowballstemmer

    if language not in stem_languages():
        raise SettingError(f"There is no stemmer for “{language}”.", f"Known: {', '.join(stem_languages())}.")
    return list(snowballstemmer.stemmer(language).stemWords(words))
