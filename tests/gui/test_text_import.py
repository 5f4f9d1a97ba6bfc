"""The window for texts, through its widgets: counts, stop words, roles, problems, import."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from asked import answering
from gui_toys import settle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.session import Session, open_session
from plaidwork.gui.data import ImportDialog, TextImportDialog
from plaidwork.gui.data.facts import find_facts

TABLE = "id,party,stars,body\n" + "".join(
    f"d{i},{('left', 'right')[i % 2]},{i % 5},the tax and {('health', 'border')[i % 2]} plan number {i} film{i}\n"
    for i in range(20)
)


@pytest.fixture(autouse=True)
def finished(qapp):
    yield
    settle()


@pytest.fixture
def opened(qtbot, tmp_path):
    def open_(content: str | bytes = TABLE, name: str = "speeches.csv", **given) -> TextImportDialog:
        path = tmp_path / name
        if content:
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        dialog = TextImportDialog(path, given)
        qtbot.addWidget(dialog)
        with qtbot.waitActive(dialog):
            dialog.show()
        ready(qtbot, dialog)
        return dialog

    return open_


def ready(qtbot, dialog) -> None:
    qtbot.waitUntil(lambda: not dialog.busy() and not dialog._quiet.isActive(), timeout=30_000)
    QApplication.processEvents()


def finish(qtbot, dialog):
    with qtbot.waitSignal(dialog.accepted, timeout=30_000):
        qtbot.mouseClick(dialog.import_button, Qt.MouseButton.LeftButton)
    return dialog.dataset


def pick(qtbot, dialog, combo, text: str) -> None:
    """Choose in a combo box with the keyboard."""
    combo.setFocus()
    combo.showPopup()
    place = combo.findText(text)
    assert place >= 0, [combo.itemText(k) for k in range(combo.count())]
    combo.view().setCurrentIndex(combo.model().index(place, 0))
    qtbot.keyClick(combo.view(), Qt.Key.Key_Return)
    ready(qtbot, dialog)


def words(dialog) -> dict[str, str]:
    terms = dialog.state.preview.terms
    return dict(zip(terms["Word"].tolist(), terms["Use"].tolist()))


def test_a_table_with_texts_needs_one_click(qtbot, opened):
    dialog = opened()
    assert dialog._note.text().startswith("20 documents, 160 words.")
    assert dialog.preview.figures["documents"].value == "20"
    assert words(dialog)["tax"] == "kept"
    assert words(dialog)["the"] == "stop word"
    assert words(dialog)["7"] == "number"
    assert words(dialog)["film3"] == "kept"  # 0.5 % of 20 documents is one
    data = finish(qtbot, dialog)
    assert scipy.sparse.issparse(data.values)
    assert (data.name, data.shape[0], data.row_names[:2]) == ("speeches", 20, ("d0", "d1"))
    assert data.row_table["body"][3].startswith("the tax")


def test_a_word_is_left_out_and_kept_again_by_clicks(qtbot, opened):
    dialog = opened()
    pane = dialog.preview
    assert not pane.toggle_button.isEnabled()
    pane.words.set_filter("tax")
    pane.words.select_row(int(np.flatnonzero(dialog.state.preview.terms["Word"] == "tax")[0]))
    assert pane.toggle_button.text() == "Leave out “tax”"
    qtbot.mouseClick(pane.toggle_button, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert words(dialog)["tax"] == "stop word"
    assert pane.toggle_button.text() == "Keep “tax”"
    assert dialog.options.edit_button.text() == "Edit 185…"
    qtbot.mouseClick(pane.toggle_button, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert words(dialog)["tax"] == "kept"
    pane.words.set_filter("")
    pane.select_word("the")
    assert pane.hint.text() == "Left out: stop word"
    qtbot.mouseClick(pane.toggle_button, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert words(dialog)["the"] == "kept"
    assert "the" in finish(qtbot, dialog).column_names


def test_stop_words_are_edited_in_a_list(qtbot, opened):
    dialog = opened()

    def edit(found):
        found.edit.setPlainText("tax\nplan number\n")
        found.language.setCurrentText("German")
        qtbot.mouseClick(found.add_button, Qt.MouseButton.LeftButton)
        qtbot.mouseClick(found.findChild(QPushButton, "use_stop_words"), Qt.MouseButton.LeftButton)
        return True

    with answering(edit):
        qtbot.mouseClick(dialog.options.edit_button, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert words(dialog)["tax"] == "stop word"
    assert words(dialog)["the"] == "kept"
    assert {"und", "plan number"} <= dialog.state.options().stop_list
    pick(qtbot, dialog, dialog.options.language, "None")
    assert "und" in dialog.state.options().stop_list


@pytest.mark.long
def test_settings_change_what_is_counted(qtbot, opened):
    dialog = opened()
    fields = dialog.options.fields
    edit = fields["min_documents"].editor
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, "many")
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    ready(qtbot, dialog)
    assert "Found “many”" in dialog._foot.text()
    assert not dialog.import_button.isEnabled()
    edit.selectAll()
    qtbot.keyClicks(edit, "40 %")
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    ready(qtbot, dialog)
    assert words(dialog)["film3"] == "in too few documents"
    assert words(dialog)["border"] == "kept"
    edit.selectAll()
    qtbot.keyClicks(edit, "21")
    ready(qtbot, dialog)
    assert dialog._foot.text().startswith("The filters leave no word.")
    assert not dialog.import_button.isEnabled()


def test_roles_reach_the_dataset(qtbot, opened):
    dialog = opened()
    outcome = dialog.roles.combos["outcome"]
    assert [outcome.itemText(k) for k in range(outcome.count())] == [
        "None",
        "party=left",
        "party=right",
        "stars",
    ]
    pick(qtbot, dialog, outcome, "party=right")
    menu = dialog.roles.open_menu("covariate")
    next(action for action in menu.actions() if action.text() == "stars").trigger()
    menu.close()
    ready(qtbot, dialog)
    assert dialog.roles.buttons["covariate"].text() == "stars"
    data = finish(qtbot, dialog)
    assert data.source.options["roles"] == {"party=right": "outcome", "stars": "covariate", "body": "text"}


def test_problems_are_listed_with_what_can_be_done(qtbot, opened):
    dialog = opened(
        "id,same,body\n1,4,some words about tax\n2,4,\n3,4,some words about tax\n", text_column="body"
    )
    told = [row.accessibleName() for row in dialog.issues.rows]
    assert told == [
        "1 document has no text. Left out. First: row 3",
        "1 document repeats the text of another. First: row 2 and row 4",
    ]
    assert [row.box.isChecked() for row in dialog.issues.rows] == [False, True]
    assert dialog.preview.figures["documents"].note == "1 left out"
    qtbot.mouseClick(dialog.issues.rows[0].box, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert dialog.preview.figures["documents"].value == "3"
    pick(qtbot, dialog, dialog.roles.combos["outcome"], "same")
    assert dialog._foot.text().startswith("The outcome “same” is constant")
    assert not dialog.import_button.isEnabled()


def test_a_file_that_is_not_utf8_is_read_otherwise_on_request(qtbot, opened):
    dialog = opened("id,body\n1,ein schöner Tag im Mai\n2,noch ein schöner Tag\n".encode("latin-1"))
    assert not dialog._refusal.isHidden()
    assert not dialog.import_button.isEnabled()
    again = next(b for b in dialog._refusal.findChildren(QPushButton) if b.text() == "Read as Windows-1252")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    ready(qtbot, dialog)
    assert dialog._refusal.isHidden()
    assert "schöner" in words(dialog)
    assert dialog.options.combos["encoding"].currentText().startswith("Windows-1252")


def test_without_a_column_that_looks_like_text_one_is_chosen(qtbot, opened):
    dialog = opened("id,word\n1,tax\n2,health\n3,tax\n")
    assert not dialog._refusal.isHidden()
    assert dialog.isEnabled()
    pick(qtbot, dialog, dialog.options.combos["text_column"], "word")
    assert words(dialog) == {"tax": "kept", "health": "kept"}


def test_counts_with_files_beside_them(qtbot, opened, tmp_path):
    (tmp_path / "t_vocab.csv").write_text("word,term\n0,tax\n1,plan\n", encoding="utf-8")
    (tmp_path / "t_docs.csv").write_text("doc,party\n0,left\n1,right\n", encoding="utf-8")
    dialog = opened("doc,word,count\n0,0,3\n1,1,2\n1,0,1\n", "t_counts.csv")
    assert dialog.options.combos["text_source"].currentData() == "triplets"
    assert dialog.options.files["terms_file"].text() == "t_vocab.csv"
    assert dialog.options.fields["stem"].isHidden()
    dialog.preview.switch.set_current("documents")
    assert list(dialog.state.preview.texts["Text"]) == ["tax (3)", "plan (2), tax (1)"]
    data = finish(qtbot, dialog)
    assert data.values.toarray().tolist() == [[0, 3], [2, 1]]
    assert data.row_table["party"].tolist() == ["left", "right"]


def test_a_table_of_counts_whose_outcome_is_among_the_columns(qtbot, opened):
    dialog = opened("score,tax,plan\n70,1,2\n20,3,0\n50,0,1\n", text_source="table")
    assert words(dialog).keys() == {"score", "tax", "plan"}
    pick(qtbot, dialog, dialog.roles.combos["outcome"], "score")
    assert words(dialog).keys() == {"tax", "plan"}
    pick(qtbot, dialog, dialog.roles.combos["outcome"], "None")
    assert words(dialog).keys() == {"score", "tax", "plan"}


def test_a_folder(qtbot, opened, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"tax plan {name}{name}", encoding="utf-8")
    dialog = TextImportDialog(tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    ready(qtbot, dialog)
    assert dialog.roles.isHidden()
    assert finish(qtbot, dialog).row_names == ("a", "b")


def test_closing_stops_what_is_under_way(qtbot, opened):
    dialog = opened()
    dialog.options.fields["lower"].editor.click()
    dialog._count()
    assert dialog.busy()
    dialog.reject()
    assert not dialog.busy()


def test_the_import_of_tables_offers_to_count_texts(qtbot, tmp_path):
    path = tmp_path / "speeches.csv"
    path.write_text(TABLE, encoding="utf-8")
    dialog = ImportDialog(path)
    qtbot.addWidget(dialog)
    with qtbot.waitActive(dialog):
        dialog.show()
    qtbot.waitUntil(lambda: not dialog.busy(), timeout=30_000)
    assert dialog.messages.current.title == "The column “body” holds texts"
    offer = next(b for b in dialog.messages.findChildren(QPushButton) if b.text() == "Import texts…")
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()
    assert dialog.text_column == "body"


@pytest.mark.slow
def test_a_matrix_that_would_not_fit_when_dense_is_looked_at_and_kept(tmp_path):
    """200 000 documents by 20 000 words: 32 GB as a dense matrix."""
    rng = np.random.default_rng(2)
    size, n = (200_000, 20_000), 50_000
    values = scipy.sparse.csr_matrix(
        (np.ones(n), (rng.integers(0, size[0], n), rng.integers(0, size[1], n))), shape=size
    )
    names = [tuple(f"{word} {i}" for i in range(length)) for word, length in zip(("d", "w"), size)]
    texts = np.array(names[0], dtype=object)
    data = Dataset("large", values, names[0], names[1], kind="count", row_table={"text": texts})
    facts = find_facts(data)
    assert facts.shape == size
    assert facts.low == 0
    session = Session()
    session.add_dataset(data)
    found = open_session(session.save(tmp_path / "large.plaidwork")).datasets["large"]
    assert found.values.nnz == values.nnz
    assert found.row_table["text"][-1] == "d 199999"
