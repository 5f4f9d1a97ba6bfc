"""The left side of the window for texts: where the texts are, how words are made, which are kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLineEdit, QVBoxLayout, QWidget

from plaidwork.core.data.importers._text import ENCODINGS
from plaidwork.core.data.text import KINDS, SourceLook, TextOptions, text_settings
from plaidwork.core.data.text.stop_words import stop_word_languages
from plaidwork.gui.data.text_state import TextState
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.setup.fields import SettingField
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import add, horizontal, vertical

_WORDS = ("lower", "punctuation", "numbers", "min_length", "stem", "ngrams")
_KEPT = ("min_documents", "max_documents", "max_words")
_TRIPLET = ("Documents", "Words", "Counts")


class _Part(QWidget):
    """A label above an editor."""

    def __init__(self, title: str, editor: QWidget, name: str) -> None:
        super().__init__()
        self.editor = editor
        label = Label(title, elide=True)
        label.setBuddy(editor)
        editor.setAccessibleName(tr(title))
        editor.setObjectName(name)
        vertical(label, editor, on=self, spacing=space.XS)


class TextOptionsPanel(QWidget):
    """All options, from the declaration in ``core/text/options.py``.

    Signals
    -------
    source_changed : an option of the source (name, value); it has to be read again
    setting_changed : another setting; words have to be counted again
    edit_stop_list : the user wants to see or edit the stop words
    """

    source_changed = Signal(str, object)
    setting_changed = Signal()
    edit_stop_list = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = Path()
        self.fields = {setting.name: SettingField(setting) for setting in text_settings()}
        for field in self.fields.values():
            field.changed.connect(self.setting_changed)
        self.name_edit = QLineEdit()
        self.language = QuietCombo()
        for title, value in (("None", ""), *((name.capitalize(), name) for name in stop_word_languages())):
            self.language.addItem(tr(title), value)
        self.language.setCurrentIndex(self.language.findData("english"))
        self.language.currentIndexChanged.connect(lambda _: self.setting_changed.emit())
        self.edit_button = button("Edit list…", self.edit_stop_list.emit)
        self.edit_button.setObjectName("edit_stop_words")
        column = vertical(on=self, spacing=space.M)
        self._build_source(column)
        add(column, space.S, Label("How texts become words", "strong"))
        self._words = [self.fields[name] for name in _WORDS]
        stop = self._stop_part()
        add(
            column,
            *(*self._words[:4], stop, *self._words[4:]),
            space.S,
            Label("Which words are kept", "strong"),
            *(self.fields[name] for name in _KEPT),
            space.S,
            _Part("Name of the data", self.name_edit, "text_name"),
        )

    def _stop_part(self) -> QWidget:
        line = QWidget()
        horizontal((self.language, 1), self.edit_button, on=line, spacing=space.S)
        self.language.setObjectName("stop_language")
        part = _Part("Stop words left out", line, "stop_words")
        self.language.setAccessibleName(tr("Stop words left out"))
        return part

    def _build_source(self, column: QVBoxLayout) -> None:
        self._heading = Label("Where the texts are", "strong")
        column.addWidget(self._heading)
        self.combos: dict[str, QuietCombo] = {}
        self.parts: dict[str, QWidget] = {}
        for name, title in (
            ("text_source", "The file is"),
            ("text_column", "Texts"),
            ("names", "Names of documents"),
            ("encoding", "Encoding"),
        ):
            self._combo(column, name, title)
        for index, title in enumerate(_TRIPLET):
            self._combo(column, f"triplet_{index}", title)
        self.files: dict[str, QLineEdit] = {}
        for name, title in (
            ("terms_file", "File with the words"),
            ("documents_file", "File on the documents"),
        ):
            self._file(column, name, title)
        self.turned = QCheckBox(tr("Rows are words"))
        self.turned.setObjectName("source_turned")
        self.turned.toggled.connect(lambda on: self.source_changed.emit("turned", on))
        self.parts["turned"] = self.turned
        column.addWidget(self.turned)

    def _combo(self, column: QVBoxLayout, name: str, title: str) -> None:
        combo = QuietCombo()
        combo.activated.connect(lambda _, name=name: self._picked(name))
        self.combos[name] = combo
        self.parts[name] = _Part(title, combo, f"source_{name}")
        column.addWidget(self.parts[name])

    def _file(self, column: QVBoxLayout, name: str, title: str) -> None:
        shown = QLineEdit()
        shown.setReadOnly(True)
        shown.setPlaceholderText(tr("None"))
        line = QWidget()
        horizontal(
            (shown, 1), button("Choose…", lambda: self._ask_file(name, title)), on=line, spacing=space.S
        )
        self.files[name] = shown
        self.parts[name] = _Part(title, line, f"source_{name}")
        column.addWidget(self.parts[name])

    def _ask_file(self, name: str, title: str) -> None:
        kinds = "Tables and lists (*.csv *.tsv *.txt *.csv.gz *.tsv.gz *.txt.gz)"
        path, _ = QFileDialog.getOpenFileName(self, tr(title), str(self._folder), kinds)
        if path:
            self.source_changed.emit(name, path)

    def _picked(self, name: str) -> None:
        if name.startswith("triplet_"):
            titles = [self.combos[f"triplet_{index}"].currentData() for index in range(len(_TRIPLET))]
            self.source_changed.emit("triplet_columns", titles)
        else:
            self.source_changed.emit(name, self.combos[name].currentData())

    # -- content --------------------------------------------------------------------------------
    def show_source(self, state: TextState) -> None:
        """Show what the source is and which columns it has."""
        look = state.look
        assert look is not None
        self._folder = state.path.parent
        documents = state.documents
        self._heading.setText(
            "Where the texts are" if look.kind in ("texts", "folder") else "Where the counts are"
        )
        self._fill("text_source", [(KINDS[kind], kind) for kind in look.kinds], look.kind)
        columns = [(title, title) for title in look.titles]
        texts = documents.text_column if documents is not None else state.given.get("text_column", "")
        self._fill("text_column", columns, texts)
        named = documents.source.options.get("names") if documents is not None else None
        others = [item for item in columns if item[0] != texts]
        self._fill("names", [("Number the documents", ""), *others], named or "")
        self._fill("encoding", [(title, name) for name, title in ENCODINGS.items()],
                   state.given.get("encoding") or (documents.source.options.get("encoding") if documents else "") or "utf-8")  # fmt: skip
        triplets: Sequence[str] = state.given.get("triplet_columns") or look.triplets or ("", "", "")
        for index in range(len(_TRIPLET)):
            self._fill(f"triplet_{index}", columns, triplets[index])
        for name, shown in self.files.items():
            given = state.given.get(name)
            found = Path(str(given)) if given else look.siblings.get(name) if given is None else None
            shown.setText(found.name if found is not None else "")
            shown.setCursorPosition(0)
            shown.setToolTip(str(found or ""))
        visible = {
            "texts": ("text_column", "names", "encoding"),
            "folder": ("encoding",),
            "triplets": ("triplet_0", "triplet_1", "triplet_2", "terms_file", "documents_file", "encoding"),
            "table": ("turned", "encoding"),
            "matrix": ("terms_file", "documents_file", "turned"),
        }[look.kind]
        for name, part in self.parts.items():
            part.setVisible(name in visible or (name == "text_source" and len(look.kinds) > 1))
        for field in self._words:
            if field.parameter.name in ("punctuation", "stem", "ngrams"):
                field.setVisible(look.kind in ("texts", "folder"))

    def _fill(self, name: str, items: Sequence[tuple[str, Any]], value: Any) -> None:
        combo = self.combos[name]
        blocker = QSignalBlocker(combo)
        combo.clear()
        for text, data in items:
            combo.addItem(tr(text), data)
        combo.setPlaceholderText(tr("Choose…"))
        combo.setCurrentIndex(next((k for k, (_, data) in enumerate(items) if data == value), -1))
        blocker.unblock()

    def begin(self, look: SourceLook) -> None:
        """The usual settings for what the source is."""
        usual = TextOptions.of({}, counted=look.kind not in ("texts", "folder"))
        for name, field in self.fields.items():
            blocker = QSignalBlocker(field)
            field.set_default(getattr(usual, name))
            field.set_value(getattr(usual, name))
            blocker.unblock()
        blocker = QSignalBlocker(self.language)
        self.language.setCurrentIndex(max(0, self.language.findData((usual.stop_words or ("",))[0])))
        blocker.unblock()

    def settings(self) -> dict[str, Any]:
        """Values by name, those of fields with a problem as they were."""
        language = str(self.language.currentData() or "")
        return {name: field.value for name, field in self.fields.items()} | {
            "stop_words": [language] if language else []
        }

    @property
    def problem(self) -> str:
        """What is wrong with a field, or empty."""
        return next((field.problem for field in self.fields.values() if field.problem), "")

    def show_stop_words(self, number: int) -> None:
        """Tell how many words are on the list."""
        self.edit_button.setText(tr(f"Edit {format_count(number)}…"))
