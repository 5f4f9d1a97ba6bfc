"""Columns of words that are measured: numbers that stand for words, what is told of them, and how far their words go."""

import numpy as np
import pytest
from told_issues import issue, preview

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Step
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers.base import Added
from plaidwork.core.data.levels import LEVELS, levels_of, words_of
from plaidwork.core.data.measured import Beside, may_be_outcomes
from plaidwork.core.data.overview import overview
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.errors import DataError
from plaidwork.core.session.offers import is_about

_SEX, _SMOKES = ("man", "woman"), ("never", "None", "often", "once")


def people(rows=40, numbers=True):
    """Sex and smoking in words, an age and a weight; of sorted rows the first have one sex."""
    lines = ["person,sex,smokes,group" + (",age,weight" if numbers else "")]
    for i in range(rows):
        told = f"P{i},{_SEX[i * 2 // rows]},{'' if i == 3 else _SMOKES[i % 4]},{'AB'[i % 2]}"
        lines.append(told + (f",{20 + i},{60 + 1.5 * i}" if numbers else ""))
    return "\n".join(lines) + "\n"


# -- reading ----------------------------------------------------------------------------------------------------


def test_columns_of_words_are_labels_and_one_click_measures_them(write):
    path = write(people())
    found = issue(preview(path), "2 columns of words are labels, and not measured")
    assert found.severity == "info"  # a group is an outcome rather than a measurement
    assert found.fix == ("Measure them as categories", "categories", Added((1, 2)))
    data = read_dataset(path, {"categories": [1, 2]})
    assert data.column_names == ("age", "weight", "sex", "smokes")
    assert list(data.row_table) == ["group"]
    np.testing.assert_array_equal(data.values[:2, 2:], [[0, 1], [0, 2]])
    assert np.isnan(data.values[3, 3])
    assert levels_of(data) == ((), (), _SEX, ("never", "None", "often", "once"))
    assert list(data.column_table[LEVELS]) == ["", "", "man | woman", "never | None | often | once"]
    again = read_dataset(path, dict(data.source.options))
    np.testing.assert_array_equal(again.values, data.values)
    assert not [told for told in preview(path, categories=[1, 2]).issues if "words" in told.message]


def test_neither_an_outcome_in_numbers_nor_the_column_for_a_test_is_one_of_words(write):
    body = "".join(
        f"{i}.5,{i}.25,{3 + i % 3},{'AB'[i % 2]},{('train', 'test')[i // 20]}\n" for i in range(40)
    )
    shown = preview(write(f"acid,sugar,quality,cask,set\n{body}"))
    assert shown.roles == ("value", "value", "label", "label", "label")
    assert "“cask”. " in issue(shown, "1 column of words is a label, and not measured").detail


def test_a_table_of_words_alone_is_read_as_categories(write):
    path = write(people(400, numbers=False))
    shown = preview(path)
    told = issue(shown, "No column holds numbers: 3 columns of words are read as categories")
    assert told.severity == "warning"
    assert shown.roles == ("name", "value", "value", "value")
    data = read_dataset(path)
    assert data.shape == (400, 3)  # the first 200 rows have one sex only
    assert data.kind == "ordinal"
    assert levels_of(data)[0] == _SEX
    assert not [told for told in shown.issues if "same value" in told.message]


def test_one_word_throughout_stays_a_label_of_such_a_table(write):
    text = people(numbers=False).replace("woman", "man")
    data = read_dataset(write(text))
    assert data.column_names == ("smokes", "group")
    assert list(data.row_table) == ["sex"]
    with pytest.raises(DataError, match="column “sex”: categories are 2 to 100 different words, found 1"):
        read_dataset(write(text), {"categories": ["sex"]})


def test_names_of_columns_above_words_are_found_where_the_rows_are_numbered(write):
    """As R writes a table: no title above the numbers, and titles that come back among the words."""
    lines = [
        '"","class","sex"',
        *(f'"{i + 1}","{("first class", "class", "crew")[i % 3]}","{_SEX[i % 2]}"' for i in range(30)),
    ]
    data = read_dataset(write("\n".join(lines) + "\n"))
    assert data.column_names == ("class", "sex")
    assert data.row_names[:2] == ("1", "2")


def test_answers_in_known_order_have_that_order_however_they_are_written(write):
    scale = ("StronglyAgree", "strongly_disagree", "Agree", "Disagree")
    path = write("id,q1,q2\n" + "".join(f"p{i},{scale[i % 4]},{scale[i * 3 % 4]}\n" for i in range(24)))
    data = read_dataset(path)
    assert levels_of(data)[0] == ("strongly_disagree", "Disagree", "Agree", "StronglyAgree")
    assert data.values[0, 0] == 4


def test_what_is_asked_for_has_to_be_there(write):
    with pytest.raises(DataError, match="“colour”"):
        read_dataset(write(people()), {"categories": ["colour"]})


def test_counts_beside_words_are_still_counts(write):
    text = "id,a,b,w\n" + "".join(f"p{i},{i % 7 * (i % 3)},{i * i % 23},{_SEX[i % 2]}\n" for i in range(40))
    assert read_dataset(write(text), {"categories": ["w"]}).kind == "count"


# -- words of columns ---------------------------------------------------------------------------------------------


def test_words_are_forgotten_where_the_numbers_are_others_by_now(write):
    data = read_dataset(write(people()), {"categories": ["sex", "smokes"]})
    some = apply_step(data, Step("select", {"axis": "columns", "names": "sex\nage\n"}))
    assert {name: words_of(some, j) for j, name in enumerate(some.column_names)} == {"sex": _SEX, "age": ()}
    scaled = data.with_(values=data.values * 2.5)
    assert levels_of(scaled) == ()


def test_a_column_of_words_is_an_outcome_by_its_words(write):
    data = read_dataset(write(people()), {"categories": ["sex", "smokes"]})
    beside = Beside(data, 0)
    assert list(beside["sex"][[0, 39]]) == ["man", "woman"]
    assert list(beside["smokes"][[2, 3]]) == ["often", ""]
    assert {"sex", "smokes"} <= set(may_be_outcomes(data, 0, classes=True))
    assert not {"sex", "smokes"} & set(may_be_outcomes(data, 0, classes=False))  # no numbers to be explained


def test_models_that_know_categories_are_meant_for_them(write):
    data = read_dataset(write(people()), {"categories": ["sex"]})
    plain, knows = Input("X"), Input("X", also=("categorical",))
    assert is_about([knows], [data])
    assert not is_about([plain], [data])
    assert is_about([plain], [read_dataset(write(people()))])
    assert overview([data]).views[0].n_words == 1


# -- samples of a table of people -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("titles", "first", "found"),
    [
        (("age", "weight", "income", "income2"), 1, "rows"),
        (("age", "weight", "income", "income2"), 84, ""),  # numbers of genes, perhaps
        (("ctrl_1", "ctrl_2", "treat_1", "treat_2"), 1, ""),
        (("V1", "V2", "V3", "V4"), 1, ""),
    ],
)
def test_numbered_rows_under_titles_of_variables_are_the_samples(write, titles, first, found):
    rows = [f"{first + i},{i}.5,{i * 7 % 5}.1,{i * i % 11}.2,{i * 3 % 7}.3" for i in range(20)]
    path = write("\n".join([",".join(("", *titles)), *rows]) + "\n")
    assert read_dataset(path).samples_in == found
    unnamed = write(
        "\n".join([",".join(titles), *(row.split(",", 1)[1] for row in rows)]) + "\n", "unnamed.csv"
    )
    assert read_dataset(unnamed).samples_in == ("rows" if titles[0] == "age" else "")


def test_categories_are_of_samples_whatever_the_rows_are_called(write):
    assert (
        read_dataset(write(people().replace("person", "place")), {"categories": ["sex"]}).samples_in == "rows"
    )
