"""Pairs of columns with the two alleles of a locus: read as copies of the rarer one, told, and read as they are by a click."""

import numpy as np
import pytest
from told_issues import issue, preview

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers.several import guess_role
from plaidwork.core.data.levels import COUNTED
from plaidwork.core.errors import DataError
from plaidwork.core.session.fitting import registry
from plaidwork.core.session.suitability import Choices, suggestion

RNG = np.random.default_rng(1)
_TOLD = "like alleles"


def family(n=60, loci=40, bases="1234", unknown="0", title="loc{}.a{}"):
    """Persons of families, as geneticists write them: family, person, parents, sex, case, and two columns for each locus."""
    titles = [title.format(j, k) for j in range(loci) for k in (1, 2)]
    lines = [",".join(["pid", "id", "fid", "mid", "sex", "case", *titles])]
    usual = [RNG.permutation(list(bases))[:2] for _ in range(loci)]
    for i in range(n):
        cells = [str(RNG.choice(pair, p=(0.7, 0.3))) for pair in usual for _ in (1, 2)]
        cells = [unknown if RNG.random() < 0.05 else cell for cell in cells]
        parents = (f"{i - 1}", f"{i - 2}") if i % 3 == 2 else ("0", "0")
        lines.append(",".join([f"PED{i // 3}", f"{i}", *parents, f"{1 + i % 2}", f"{i % 3}", *cells]))
    return "\n".join(lines) + "\n"


def test_alleles_become_copies_and_all_else_describes_the_rows(write):
    path = write(family())
    shown = preview(path)
    told = issue(shown, f"40 pairs of columns look {_TOLD}")
    assert told.severity == "warning"
    assert told.detail.endswith("copies of the rarer allele, missing where one is 0")
    assert told.fix == ("Read them as they are", "alleles", [])
    beside = issue(shown, "4 columns beside the alleles describe the rows")
    assert (beside.severity, beside.fix) == ("info", ("Read as numbers", "labels", [0, 1]))
    assert shown.makes == (("x", 60, 40),)
    data = read_dataset(path)
    assert (data.kind, data.shape, data.column_names[:2]) == ("ordinal", (60, 40), ("loc0", "loc1"))
    assert list(data.row_table) == ["pid", "id", "fid", "mid", "sex", "case"]
    assert data.n_missing
    again = read_dataset(path, dict(data.source.options))
    np.testing.assert_array_equal(again.values, data.values)


def test_copies_of_the_rarer_allele(write):
    rows = ["A,A,2,4,3,3", "A,G,4,4,0,3", "G,A,4,2,3,3", "A,A,4,4,3,3", ",A,2,9,3,3", "A,A,4,4,3,3"]
    titles = "b.a1,b.a2,rs1 allele 1,rs1 allele 2,m_A1,m_A2"
    data = read_dataset(write(f"person,{titles}\n" + "".join(f"p{i},{row}\n" for i, row in enumerate(rows))))
    assert data.column_names == ("b", "rs1 2", "rs1 9", "m")
    np.testing.assert_array_equal(data.values[:, 0], [0, 1, 1, 0, np.nan, 0])
    np.testing.assert_array_equal(data.values[:, 1:3], [[1, 0], [0, 0], [1, 0], [0, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(data.values[:, 3], [0, np.nan, 0, 0, 0, 0])
    assert list(data.column_table[COUNTED]) == ["G", "2", "9", ""], "of one allele there is no rarer one"


def test_a_model_of_words_is_proposed_neither_for_copies_nor_for_codes(write):
    for options in ({}, {"alleles": []}, {"alleles": [], "labels": [0, 1, 2, 3, 4, 5]}):
        data = read_dataset(write(family(loci=120)), options)
        assert data.kind == "ordinal"
        assert suggestion(registry(), Choices({data.name: data}), [data.name])[0] == "group_factor"
    assert data.shape == (60, 240)


def test_letters_are_alleles_too_and_rare_ones_no_counts(write):
    text = family(bases="ACGT", unknown="N", title="rs{}_A{}")
    data = read_dataset(write(text))
    assert (data.kind, data.shape) == ("ordinal", (60, 40))
    assert guess_role(write(text)) == "view"
    rare = ["1,1"] * 57 + ["1,2"] * 3
    lines = [f"p{i}," + ",".join([rare[(i + 7 * j) % 60] for j in range(6)]) for i in range(60)]
    titles = ",".join(f"s{j}.a{k}" for j in range(6) for k in (1, 2))
    data = read_dataset(write(f"person,{titles}\n" + "\n".join(lines) + "\n"))
    assert isinstance(data, Dataset)
    assert (data.shape, set(np.unique(data.values))) == ((60, 6), {0.0, 1.0})


@pytest.mark.parametrize(
    "asked",
    [{"title": "q{}{}"}, {"title": "alpha{}.{}"}, {"title": "loc{}.b{}"}, {"bases": ["2.5", "3.5"]}, {"bases": "0123456789"}],
    ids=["titles of questions", "numbers behind a point", "another letter", "amounts", "many repeats"],
)  # fmt: skip
def test_other_columns_stay_what_they_are(write, asked):
    text = family(**asked)
    if asked.get("bases") == "0123456789":  # each locus has all of them
        text = "\n".join(
            [
                text.partition("\n")[0],
                *(
                    ",".join([f"P{i}"] * 2 + ["1"] * 4 + [str((i + j) % 9 + 1) for j in range(80)])
                    for i in range(60)
                ),
            ]
        )
    shown = preview(write(text))
    assert not [told for told in shown.issues if _TOLD in told.message]
    assert "alleles" not in shown.options


def test_other_columns_are_measured_where_they_are_many(write):
    data = read_dataset(write(family(loci=8)))
    assert data.column_names[:4] == ("fid", "mid", "sex", "case")
    assert list(data.column_table[COUNTED][:4]) == [""] * 4


def test_a_column_that_somebody_calls_a_label_is_no_allele(write):
    path = write(family())
    data = read_dataset(path, {"labels": [0, 1, 2, 3, 4, 5, 6]})
    assert {"loc0.a1", "sex"} <= set(data.row_table)
    assert data.column_names[:2] == ("loc0.a2", "loc1")


def test_what_is_asked_for_is_the_first_of_two(write):
    path = write(family(title="q{}{}", loci=4))
    assert read_dataset(path, {"alleles": ["q01", "q11"]}).column_names[-2:] == ("q01", "q11")
    for wrong in ("q32", ["q01", "q02"], "case2"):
        with pytest.raises(DataError, match="alleles"):
            read_dataset(path, {"alleles": wrong})
    with pytest.raises(DataError, match=r"loc0\.a2”, entry 60: expected an allele"):
        read_dataset(
            write(family(loci=2).rstrip("\n").rsplit(",", 3)[0] + ",x,1,1\n"), {"alleles": ["loc0.a1"]}
        )
