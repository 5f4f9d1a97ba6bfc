"""Pictures as values: nothing can be changed, what cannot be drawn is refused with its reason, choices, words."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from plaidwork.core import pictures as p
from plaidwork.core.contract.model import Table
from plaidwork.core.draws.numbers import format_p
from plaidwork.core.errors import PictureError
from plaidwork.core.views.tables import formats_of, heads_of


def picture(**more):
    curve = p.Line(
        [1, 2, 3], [4, np.nan, 6], name="dose", read=("a", "b", "c"), of=p.Items("row", [7, -1, 9])
    )
    given = {
        "headline": "It rises",
        "caption": "Mean of the draws",
        "panels": (p.Panel((curve,), p.Axis("time", "h"), p.Axis("level")),),
        "table": {"Time": [1, 2, 3], "Name": np.array(["x", "y", "z"])},
    }
    return p.Picture(**given | more)


def test_nothing_of_a_picture_can_be_changed():
    found = picture()
    mark = found.panels[0].marks[0]
    with pytest.raises(FrozenInstanceError):
        found.headline = ""
    with pytest.raises(ValueError, match="read-only"):
        mark.x[0] = 3
    with pytest.raises(TypeError):
        found.table["Time"] = 3
    with pytest.raises(ValueError, match="read-only"):
        found.table["Time"][0] = 3
    given = np.zeros(2)
    held = p.Points(given, given)
    given[0] = 5
    assert held.x[0] == 0


def test_a_mark_says_its_pieces_and_what_they_stand_for():
    mark = picture().panels[0].marks[0]
    assert (len(mark), mark.text(2), mark.items(0), mark.items(1)) == (3, "c", ("row", (7,)), None)
    assert p.Points([1], [2], read=lambda i: f"number {i}").text(0) == "number 0"
    assert p.Points([1, 2], [2, 3], color=(1, "muted")).color_of(1) == "muted"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: p.Line([1, 2], [1], name="a"), "Line “a” need lists of one length. Found x 2, y 1"),
        (lambda: p.Points([1], [np.inf]), "infinite"),
        (lambda: p.Points([[1]], [1]), r"shape \(1, 1\)"),
        (lambda: p.Points(["a"], [1]), "are numbers"),
        (lambda: p.Points([1], [1], read=("a", "b")), "1 pieces and 2 read-outs"),
        (lambda: p.Points([1], [1], color=(1, 2)), "1 pieces and 2 colours"),
        (lambda: p.Points([1], [1], of=p.Items("row", [1, 2])), "stand for 2 items"),
        (lambda: p.Bars([1], [0], [1], labels=("a", "b")), "2 labels"),
        (lambda: p.Cells(np.zeros(3), 0, 1, 0, 1), "matrix"),
        (lambda: p.Cells(np.zeros((3, 2)), 0, 1, 0, 1, "rainbow"), "colour map"),
        (lambda: p.Texts([1], [1], ("a", "b")), "2 words"),
        (lambda: p.Panel(("line",)), "holds marks"),
        (lambda: p.Panel((), reads="far"), "is read"),
        (lambda: p.Key("a", 1, "star"), "sign"),
        (lambda: p.Picture("h"), "needs a panel"),
        (lambda: picture(table={"a": [1], "b": [1, 2]}), "differ in length"),
        (lambda: picture(table={"a": [[1]]}), "is a list"),
    ],
)
def test_what_cannot_be_drawn_says_why(make, told):
    with pytest.raises(PictureError, match=told):
        make()


def test_axes_hold_their_marks():
    bars = p.Bars([0, 1], [0, 0], [2, 5])
    panel = p.Panel((bars, p.Rule([99], axis="y"), p.Rug([77])), y=p.Axis(zero=True))
    assert panel.scaling("y").low == 0
    assert 5 <= panel.scaling("y").high < 6
    assert panel.scaling("x").high < 2
    named = p.Panel((p.Line([1], [2]),), ends=(p.End(40, "a", 1),))
    assert named.scaling("y").high > 40


def test_words_of_a_picture():
    told = p.describe(picture(), rows=2).splitlines()
    assert told[0] == "It rises. Mean of the draws. level along time, h: line (dose)."
    assert told[1:] == ["Time\tName", "1\tx", "2\ty", "and 1 more row"]
    assert p.describe(p.Picture("Blocks", empty=("Nothing found", "No block has members"))) == (
        "Blocks. Nothing found. No block has members."
    )


def test_choices_are_declared_by_asking():
    choices = p.ViewChoices({"Show": "Precision", "bins": 99, "class": "C", "flag": True})
    assert choices.pick("show", "Show", [("roc", "ROC"), ("pr", "Precision")]) == "pr"
    assert choices.number("bins", "Bins", 2, 20, 10) == 20
    assert choices.among("class", "Class", ["A", "B", "C"]) == 2
    assert choices.among("part", "Of", ["all"]) == 0
    assert choices.flag("flag", "Flag")
    assert [(c.id, c.kind, c.value) for c in choices.declared] == [
        ("show", "few", "pr"),
        ("bins", "number", 20),
        ("class", "list", "2"),
        ("flag", "flag", True),
    ]
    assert choices.declared[2].text == "C"
    with pytest.raises(PictureError, match="twice"):
        choices.flag("bins", "Bins")


def test_what_is_not_offered_gives_way_to_the_default():
    choices = p.ViewChoices({"show": "gone", "bins": "many", "flag": "yes"})
    assert choices.pick("show", "Show", [("a", "A"), ("b", "B")], "b") == "b"
    assert choices.number("bins", "Bins", 2, 20, 10) == 10
    assert choices.flag("flag", "Flag") is False
    with pytest.raises(PictureError, match="differ"):
        choices.pick("none", "None", [])


def test_regions_say_where_they_are():
    rows, columns = np.array([[1, 1, 0], [0, 0, 0]], bool), np.array([[0, 1], [1, 0]], bool)
    mark = p.Regions(rows, columns, ("a", "b"), ("1", "2"))
    assert len(mark) == 2
    x, y = mark.middles()
    assert (x.tolist(), y[0]) == ([1, 0], 0.5)
    assert np.isnan(y[1])
    with pytest.raises(PictureError, match="need columns and words"):
        p.Regions(rows, columns[:1], ("a", "b"), ("1", "2"))


def test_a_matrix_has_names_for_its_rows_and_columns():
    matrix = p.Matrix(np.eye(2), ("a", "b"), ("c", "d"), "row")
    told = p.describe(p.Picture("H", panels=(p.Panel((p.Line([0, 1], [0, 1]),)),), matrix=matrix))
    assert told.splitlines()[1:] == ["row\tc\td", "a\t1\t0", "b\t0\t1"]
    with pytest.raises(PictureError, match="a name for every row"):
        p.Matrix(np.eye(2), ("a",), ("c", "d"))


def test_cells_stand_for_their_lines():
    cells = p.Cells(
        np.eye(2), 0, 2, 0, 2, rows=p.Items("row", [3, 4]), columns=p.Items("column", [7, -1]), clear=True
    )
    assert [cells.items(k) for k in range(4)] == [
        ("column", (7,)),
        ("row", (3,)),
        ("column", (7,)),
        ("row", (4,)),
    ]
    assert cells.kinds == {"row", "column"}
    both = p.Cells(np.eye(2), 0, 2, 0, 2, rows=p.Items("row", [3, 4]), columns=p.Items("row", [3, 4]))
    assert both.items(1) == ("row", (3, 4))
    with pytest.raises(PictureError, match="2 rows"):
        p.Cells(np.eye(2), 0, 2, 0, 2, rows=p.Items("row", [1]))


def test_an_image_is_one_thing_and_cells_are_many():
    values = np.arange(6.0).reshape(2, 3)
    ends = (0.0, 3.0, 0.0, 2.0)
    image = p.Image(values, *ends, of=p.Items("layer", [4], [0]))
    assert {image.items(piece) for piece in range(6)} == {("layer", (4,))}
    assert image.middle(5) == (1.5, 1.0)
    assert p.Cells(values, *ends).middle(5) == (2.5, 1.5)
    with pytest.raises(PictureError, match="matrix of numbers"):
        p.Image(np.arange(3.0), *ends)


def test_marked_words_are_in_order_and_within_their_text():
    mark = p.Prose("a dull plot", (p.Span(2, 6), p.Span(7, 11)))
    assert len(mark) == 1
    for spans in ((p.Span(7, 11), p.Span(2, 6)), (p.Span(7, 12),), (p.Span(3, 2),)):
        with pytest.raises(PictureError, match="out of order"):
            p.Prose("a dull plot", spans)


def test_a_choice_of_items_follows_what_is_selected():
    options = [("all", "all"), ("a", "first"), ("b", "second")]
    stands = {"a": 7, "b": 9}

    def asked(selected, said=None, **more):
        choices = p.ViewChoices(said, {"row": selected})
        found = choices.pick("node", "Node", options, of="row", stands=stands, **more)
        return found, choices.declared[0]

    assert asked((9,))[0] == "all"
    assert asked((9,), opens=True)[0] == "b"
    assert asked((9, 7), opens=True)[0] == "all"
    assert asked((3,), opens=True)[0] == "all"
    assert asked((9,), {"node": "all"}, opens=True)[0] == "all"  # somebody wants to see all
    found, choice = asked((9,), {"node": "a"})
    assert found == "b"
    assert (choice.item_of("b"), choice.item_of("all"), choice.value_of(7), choice.value_of(3)) == (
        9,
        None,
        "a",
        None,
    )
    words = p.ViewChoices({"words": "plot"}).text("words", "Containing")
    assert words == "plot"


def test_numbers_of_the_table_are_told_as_their_column_is_written():
    found = picture(table={"p": [0.00012, 0.0312, 0.5]}, formats={"p": format_p})
    assert p.describe(found).splitlines()[-3:] == ["< 0.001", "0.031", "0.50"]
    table = Table(
        {"Factor": ["a"], "drugs": [0.2559], "Time": [2.0]},
        {"drugs": "share", "Time": "h"},
        decimals={"Time": 5},
    )
    assert formats_of(table.columns, table.units)["drugs"](table.columns["drugs"][0]) == "25.6 %"
    assert formats_of(table.columns, table.units, table.decimals)["Time"](2.0) == "2.00000"
    assert heads_of(table) == {"Factor": "Factor", "drugs": "drugs", "Time": "Time (h)"}
    assert set(formats_of(["Block", "Adjusted p", "p", "Top", "q"])) == {"Adjusted p", "p", "q"}
