"""What is shown in place of names, what the user calls what was found, and what old sessions kept of that."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from conforming import Means

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.transforms import apply_step
from plaidwork.core.findings import naming
from plaidwork.core.findings.naming import (
    Naming,
    findable,
    found_dim,
    identity_of,
    label_columns,
    name_item,
    proposed_label,
    shown_names,
)
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.exporting import export_run
from plaidwork.core.session.session import Session, open_session

NAMES = ("ENSG1", "ENSG2", "ENSG3", "ENSG4")


def column(*texts) -> np.ndarray:
    return np.array(texts, dtype=object)


def genes(symbols=("TP53", "MYC", "TP53", ""), by="symbol", **more) -> Dataset:
    table = {"symbol": column(*symbols), **more}
    return Dataset(
        "genes",
        np.arange(12.0).reshape(3, 4),
        ("p1", "p2", "p3"),
        NAMES,
        column_table=table,
        column_shown_by=by,
    )


@pytest.fixture
def session():
    session = Session(name="names")
    run = session.add_run(make_plan(Means(), {"X": session.add_dataset(genes())}))
    run.spec = replace(run.spec, dims={"factor": "factor", "part": "factor", "place": "places"})
    run.status = "done"
    return session, run


def test_labels_are_disambiguated_by_the_name_and_found_by_it():
    shown = shown_names(genes(), 1)
    assert shown == ("TP53 (ENSG1)", "MYC", "TP53 (ENSG3)", "ENSG4")
    assert [identity_of(name) for name in shown] == list(NAMES)
    assert "ensg2" in findable(shown[1])
    assert shown_names(genes(), 0) == ("p1", "p2", "p3")
    assert shown_names(genes(by="gone"), 1) == NAMES
    assert shown_names(genes(("ENSG2", "b", "c", "d")), 1)[0] == "ENSG2 (ENSG1)"  # the name of another one


def test_what_looks_like_names_is_proposed():
    many = {
        "class": column("a", "a", "b", "b"),
        "number": column("1", "2", "3", "4"),
        "about": column(*(f"a long description of the gene with number {i}" for i in range(4))),
        "score": np.arange(4.0),
    }
    data = genes(("A1", "B2", "C3", "D4"), by="", **many)
    assert label_columns(data, 1) == ["symbol", "about"]
    assert proposed_label(data, 1) == "symbol"
    assert proposed_label(genes(NAMES, by=""), 1) == ""  # the names themselves
    assert proposed_label(data, 0) == ""
    codes = tuple(f"ENSG0000000000{i}" for i in range(4))
    named = data.with_(
        column_names=("TP53", "MYC", "KRAS", "EGFR"), column_table={"gene_ids": column(*codes)}
    )
    assert proposed_label(named, 1) == ""  # symbols tell more than identifiers
    dates = tuple(f"{i + 1:02d}/11/2021" for i in range(4))
    assert proposed_label(genes(by="", symbol=column("a", "a", "b", "b"), date=column(*dates)), 1) == ""


def test_labels_travel_with_transformations_and_the_session(session, tmp_path):
    data = genes(("A1", "B2", "C3", "D4"))
    turned = apply_step(data, Step("transpose"))
    assert (turned.row_shown_by, turned.column_shown_by) == ("symbol", "")
    assert shown_names(turned, 0) == ("A1", "B2", "C3", "D4")
    kept, _ = session
    again = open_session(kept.save(tmp_path / "s.plaidwork"))
    assert again.datasets["genes"].column_shown_by == "symbol"
    assert data.digest() == data.with_(column_shown_by="").digest()  # a fit does not see it


def test_names_of_found_things_are_shared_by_all_their_dims(session):
    _, run = session
    assert [found_dim(run.spec, dim) for dim in ("factor", "part", "factor_2", "place", "feature", "side")] == [
        "factor", "factor", "factor", "place", "", ""
    ]  # fmt: skip
    assert name_item(run, "part", 1, "  Cell   cycle ")
    assert not name_item(run, "feature", 1, "mine")
    assert run.item_names == {"factor": {"1": "Cell cycle"}}
    naming = Naming(run, {})
    assert naming.along("factor_2", 3) == ("factor 1", "Cell cycle", "factor 3")
    assert naming.text("Factor 2 and factor 20 differ") == "Cell cycle and factor 20 differ"
    table = Table(
        {"Factor": column("Factor 1", "Factor 2"), "Factor 2": np.zeros(2)}, units={"Factor 2": "sd"}
    )
    shown = naming.result("t", table)
    assert list(shown.columns) == ["Factor", "Cell cycle"]
    assert shown.columns["Factor"].tolist() == ["Factor 1", "Cell cycle"]
    assert shown.units == {"Cell cycle": "sd"}
    told = ["Factor 2: ship, sea", "Factor 2 (training)", "Factor 20: sky", "Factor 2a", "of Factor 2: no"]
    assert naming.texts(told) == ["Cell cycle: ship, sea", "Cell cycle (training)", *told[2:]]
    assert name_item(run, "factor", 0, "Cell cycle")
    assert Naming(run, {}).along("factor", 2) == ("Cell cycle (factor 1)", "Cell cycle (factor 2)")
    assert name_item(run, "factor", 0, "factor 1")  # the model's own is no name of the user's
    assert run.item_names == {"factor": {"1": "Cell cycle"}}


def test_exports_use_what_is_shown_and_say_what_it_stands_for(session, tmp_path):
    kept, run = session
    run.results = {
        "weights": Result(np.arange(8.0).reshape(2, 4), ("factor", "feature")),
        "best": Table({"Feature": column("ENSG2", "ENSG4")}),
    }
    name_item(run, "factor", 1, "Cell cycle")
    export_run(run, tmp_path / "out", kept)

    def lines(name):
        with (tmp_path / "out" / name).open() as file:
            return list(csv.reader(file))

    assert lines("results/weights.csv")[0] == ["name", "TP53 (ENSG1)", "MYC", "TP53 (ENSG3)", "ENSG4"]
    assert [line[0] for line in lines("results/weights.csv")[1:]] == ["factor 1", "Cell cycle"]
    assert lines("results/best.csv") == [["Feature"], ["MYC"], ["ENSG4"]]
    assert lines("labels/genes.columns.csv")[2] == ["ENSG2", "MYC"]
    assert "labels" in (tmp_path / "out" / "README.txt").read_text()


def test_blocks_that_older_sessions_have_named_keep_their_names(session, tmp_path):
    kept, run = session
    run.view_settings = {"names": {"2": "NB low"}, "threshold": 0.6}
    again = open_session(kept.save(tmp_path / "old.plaidwork"))
    stored = next(iter(again.runs.values()))
    assert stored.item_names == {"factor": {"2": "NB low"}}
    assert stored.view_settings == {"threshold": 0.6}


def test_of_very_many_annotation_columns_the_first_are_looked_at(monkeypatch):
    names = ("a", "b", "c")
    table = {f"note {number}": np.array(["x", "y", "z"], dtype=object) for number in range(1000)}
    data = Dataset("d", np.zeros((3, 3)), names, names, row_table=table)
    looked = []
    could = naming._could_name
    monkeypatch.setattr(naming, "_could_name", lambda column: looked.append(1) or could(column))
    assert label_columns(data, 0) == list(table)[:200]
    assert len(looked) == 200
