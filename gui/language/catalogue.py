"""The translator of the application, and which language it is."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator

from plaidwork.core.resources import RESOURCES
from plaidwork.gui.language.matching import Matcher

LANGUAGES = {"en": "English", "de": "Deutsch"}
_OURS = "plaidwork"


class Catalogue(QTranslator):
    """Answers for the texts of the program; Qt's own are in a catalogue of Qt's."""

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._matcher = Matcher(read_translations(path))

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, context: str, source: str, _disambiguation: str | None = None, _number: int = -1
    ) -> str | None:
        return self._matcher.translate(source) if context == _OURS else None


def read_translations(path: Path) -> dict[str, str]:
    """Translations by their sources, of a file of Qt Linguist; those that nobody has made yet are left out."""
    found = {}
    for message in ET.parse(path).getroot().iter("message"):
        translation = message.findtext("translation", "")
        if translation:
            found[message.findtext("source", "")] = translation
    return found


class _Installed:
    language = "en"
    translators: tuple[QTranslator, ...] = ()


def chosen_language(kept: str) -> str:
    """The language to start with: what ``PLAIDWORK_LANGUAGE`` says, what was chosen, or that of the system.

    What is not known is English.
    """
    wanted = os.environ.get("PLAIDWORK_LANGUAGE", "") or kept or QLocale.system().name()
    short = wanted.partition("_")[0].lower()
    return short if short in LANGUAGES else "en"


def language() -> str:
    """What is shown now: a key of `LANGUAGES`."""
    return _Installed.language


def set_language(wanted: str) -> None:
    """Translate from now on; what is on screen already stays as it is."""
    app = QCoreApplication.instance()
    assert app is not None
    for translator in _Installed.translators:
        app.removeTranslator(translator)
    _Installed.language, _Installed.translators = wanted, ()
    if wanted == "en":
        return
    of_qt = QTranslator(app)
    of_qt.load(f"qtbase_{wanted}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    ours = Catalogue(RESOURCES / "translations" / f"plaidwork_{wanted}.ts", app)
    _Installed.translators = (of_qt, ours)
    for translator in _Installed.translators:
        app.installTranslator(translator)


def tr(text: str) -> str:
    """A text in the language that is shown, as far as it is known; “quoted names” in it stay as they are."""
    if _Installed.language == "en" or not text:
        return text
    return QCoreApplication.translate(_OURS, text)


def tr_name(text: str) -> str:
    """The same of what may be a name that somebody gave: one small word stays as it is."""
    return text if " " not in text and text.islower() else tr(text)
