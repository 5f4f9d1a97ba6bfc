"""Several files as views: roles, names in common, spelling, samples in columns, tables about samples and features."""

import numpy as np
import pytest
from annotated_files import write_h5mu

from plaidwork.core.data.importers import read_dataset
from plaidwork.core.data.importers.several import guess_role, join, read_file

RNG = np.random.default_rng(8)


def csv(folder, name, rows, columns, title="sample", values=None, sep=","):
    values = RNG.normal(size=(len(rows), len(columns))).round(3) if values is None else values
    lines = [sep.join([title, *columns])]
    lines += [sep.join([row, *map(str, line)]) for row, line in zip(rows, values)]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def joined(*paths, **options):
    return join([read_file(path) for path in paths], **options)


def names(prefix, *numbers):
    return [f"{prefix}{number}" for number in numbers]


def messages(found, severity=""):
    return [item.message for item in found.findings if severity in ("", item.severity)]


def test_views_and_tables_in_one_go(tmp_path):
    mrna = csv(tmp_path, "mrna.csv", names("s", *range(6)), names("g", *range(4)))
    protein = csv(tmp_path, "protein.tsv", names("s", 2, 3, 4, 5, 9), names("p", *range(3)), sep="\t")
    people = tmp_path / "clinic.csv"
    people.write_text(
        "sample,sex,age,centre\n" + "".join(f"s{i},{'mf'[i % 2]},{40 + i},x\n" for i in range(7))
    )
    about = tmp_path / "g_features.csv"
    about.write_text("gene,pathway,kind\n" + "".join(f"g{i},p{i},k\n" for i in range(4)))
    found = joined(mrna, people, protein, about)
    assert [view.name for view in found.views] == ["mrna", "protein"]
    assert (found.n_samples, found.n_common) == (7, 4)
    assert found.problem == ""
    parts = {part.name: part for part in found.parts}
    assert parts["mrna"].n_matched == 4
    assert parts["mrna"].unmatched == ("s0", "s1")
    assert parts["protein"].unmatched == ("s9",)
    assert (parts["clinic.csv"].use, parts["clinic.csv"].n_matched) == ("samples", 6)
    assert (parts["g_features.csv"].use, parts["g_features.csv"].n_matched) == ("features", 4)
    assert list(found.views[0].row_table["sex"]) == list("mfmfmf")
    assert list(found.views[1].row_table["age"])[:4] == [42, 43, 44, 45]
    assert list(found.views[0].column_table["pathway"]) == ["p0", "p1", "p2", "p3"]
    assert found.views[1].column_table == {}
    assert "7 samples in all, 4 of them in every view" in found.text


def test_what_was_done_can_be_done_again_from_the_source(tmp_path):
    one = csv(tmp_path, "a.csv", names("TCGA-0", *range(5)), names("g", *range(3)))
    two = csv(tmp_path, "b.csv", names("h", *range(4)), names("tcga.0", *range(5)))
    (tmp_path / "samples.csv").write_text("sample,sex\n" + "".join(f"TCGA-0{i},m\n" for i in range(5)))
    found = joined(one, two, tmp_path / "samples.csv", fixes=["spelling", "turn b"])
    for view in found.views:
        again = read_dataset(tmp_path / view.source.file, view.source.options)
        assert again.digest() == view.digest()
        assert list(again.row_table["sex"]) == ["m"] * 5


def test_near_misses_are_told_and_joined_on_demand(tmp_path):
    one = csv(tmp_path, "a.csv", ["TCGA-01", "TCGA-02", "p x", "q"], ["g"])
    two = csv(tmp_path, "b.csv", ["tcga.01", "TCGA.02", "P-X", "q"], ["h"])
    found = joined(one, two)
    assert (found.n_samples, found.n_common) == (7, 1)
    item = next(item for item in found.findings if item.fix)
    assert item.message == "3 names differ in spelling only"
    assert "“tcga.01” in b and “TCGA-01”" in item.detail
    again = joined(one, two, fixes=[item.fix[1]])
    assert (again.n_samples, again.n_common) == (4, 4)
    assert again.views[1].row_names == ("TCGA-01", "TCGA-02", "p x", "q")
    assert again.findings[0].applied


def test_ambiguous_spellings_are_left_alone(tmp_path):
    one = csv(tmp_path, "a.csv", ["s-1", "s.1", "t"], ["g"])
    two = csv(tmp_path, "b.csv", ["S1", "t"], ["h"])
    assert not [item for item in joined(one, two).findings if item.fix]


def test_no_sample_in_common(tmp_path):
    one = csv(tmp_path, "a.csv", names("s", 1, 2, 3), ["g"])
    two = csv(tmp_path, "b.csv", names("t", 1, 2, 3), ["h"])
    found = joined(one, two)
    assert found.problem == "a has no sample in common with the other views"
    assert "“s1”" in found.findings[0].detail
    assert "“t1”" in found.findings[0].detail
    three = csv(tmp_path, "c.csv", names("t", 2), ["k"])
    assert joined(one, two, three).problem.startswith("a has no sample")


@pytest.mark.parametrize("features", [("g", "h"), ("g", "g")], ids=["own features", "same features"])
def test_samples_in_the_columns_of_one_file(tmp_path, features):
    one = csv(tmp_path, "a.csv", names("s", *range(6)), names(features[0], *range(20)))
    two = csv(tmp_path, "b.csv", names(features[1], *range(20)), names("s", *range(6)), title="gene")
    found = joined(one, two)
    assert [view.shape for view in found.views] == [(6, 20), (6, 20)]
    assert found.n_common == 6
    (item,) = [item for item in found.findings if item.fix]
    assert item.message == "The samples of b are in the columns of b.csv"
    assert item.applied
    left = joined(one, two, refused=[item.fix[1]])
    assert left.views[1].shape == (20, 6)
    assert not left.findings[-1].applied


def test_samples_in_the_columns_of_all_files(tmp_path):
    one = csv(tmp_path, "a.csv", names("g", *range(20)), names("s", *range(6)), title="gene")
    two = csv(tmp_path, "b.csv", names("g", *range(5, 25)), names("s", *range(1, 7)), title="gene")
    three = csv(tmp_path, "c.csv", names("m", *range(9)), names("s", *range(6)), title="gene")
    assert joined(one, two).n_common == 5
    assert [view.shape for view in joined(one, three).views] == [(6, 20), (6, 9)]


def test_shared_features_do_not_turn_anything(tmp_path):
    one = csv(tmp_path, "a.csv", names("s", *range(4)), names("g", *range(30)))
    two = csv(tmp_path, "b.csv", names("s", 3, 7, 8), names("g", *range(30)))
    about = tmp_path / "features.csv"
    about.write_text("gene,pathway\n" + "".join(f"g{i},p\n" for i in range(30)))
    found = joined(one, two, about)
    assert not [item for item in found.findings if item.fix]
    assert found.n_common == 1
    assert found.views[1].column_table["pathway"][0] == "p"


def test_a_table_of_samples_turns_a_single_view(tmp_path):
    one = csv(tmp_path, "a.csv", names("g", *range(9)), names("s", *range(4)), title="gene")
    people = tmp_path / "samples.csv"
    people.write_text("sample,sex\ns0,m\ns1,f\ns2,f\ns3,m\n")
    found = joined(one, people)
    assert found.views[0].shape == (4, 9)
    assert list(found.views[0].row_table["sex"]) == ["m", "f", "f", "m"]


def test_a_single_view_that_says_so_itself_is_turned_whatever_its_table_is_called(tmp_path):
    values = np.arange(24).reshape(6, 4) + 0.25
    genes = csv(tmp_path, "expr.csv", names("g", *range(6)), names("p", *range(4)), "gene", values)
    (tmp_path / "who.csv").write_text("id,class\n" + "".join(f"p{i},{'ab'[i % 2]}\n" for i in range(4)))
    found = joined(genes, tmp_path / "who.csv")
    (view,) = found.views
    assert view.shape == (4, 6)
    assert view.samples_in == "rows"
    assert list(view.row_table) == ["class"]
    assert [part.use for part in found.parts] == ["view", "samples"]
    assert "The samples of expr are in the columns of expr.csv" in messages(found)
    assert found.text.splitlines()[0] == "expr: 4 samples × 6 features"


def test_problems_of_single_files_are_part_of_the_report(tmp_path):
    good = csv(tmp_path, "a.csv", names("s", 1, 2, 3), ["g", "h"])
    bad = tmp_path / "b.csv"
    bad.write_text("sample,x,y\ns1,1.5,2\ns1,2.5,3\ns2,3.5,4\n")
    found = joined(good, bad, tmp_path / "gone.csv")
    errors = messages(found, "error")
    assert errors[0].startswith("b.csv: the row name “s1” occurs more than once (rows 1 and 2)")
    assert any("gone.csv" in text for text in errors)
    assert [part.use for part in found.parts] == ["view", "nothing", "nothing"]


def test_files_without_names(tmp_path):
    for name, rows in (("a", 4), ("b", 4), ("c", 5)):
        np.save(tmp_path / f"{name}.npy", RNG.normal(size=(rows, 3)))
    assert joined(tmp_path / "a.npy", tmp_path / "b.npy").problem == ""
    assert "joined by their position" in messages(joined(tmp_path / "a.npy", tmp_path / "b.npy"))[0]
    assert "Found 4 in a, 5 in c" in joined(tmp_path / "a.npy", tmp_path / "c.npy").problem
    named = csv(tmp_path, "d.csv", names("s", *range(4)), ["g"])
    assert joined(tmp_path / "a.npy", named).problem.startswith("a has no names of samples")


def test_names_of_views(tmp_path):
    (tmp_path / "two").mkdir()
    one = csv(tmp_path, "x.csv", names("s", 1, 2), ["g"])
    two = csv(tmp_path / "two", "x.csv", names("s", 1, 2), ["h"])
    found = joined(one, two)
    assert [view.name for view in found.views] == ["x", "x 2"]
    assert [(part.file, part.path) for part in found.parts] == [("x.csv", one), ("x.csv", two)]
    assert [view.name for view in joined(one, two, names=["rna", ""]).views] == ["rna", "x"]


def test_only_tables(tmp_path):
    people = tmp_path / "samples.csv"
    people.write_text("sample,sex\ns0,m\ns1,f\n")
    assert "holds a matrix" in joined(people).problem
    view = csv(tmp_path, "a.csv", names("t", 1, 2), ["g"])
    assert joined(view, people).problem == "No name of samples.csv is a sample or feature of a view"


def test_modalities_and_long_tables(tmp_path):
    mods = {
        "rna": (np.eye(3), {"names": names("s", 1, 2, 3)}, {"names": names("g", 1, 2, 3)}),
        "atac": (np.eye(2), {"names": names("s", 2, 3)}, {"names": names("k", 1, 2)}),
    }
    path = write_h5mu(tmp_path / "m.h5mu", mods, {"names": names("s", 1, 2, 3)})
    long = tmp_path / "long.csv"
    long.write_text(
        "sample,feature,value\n" + "".join(f"s{i},f{j},{i}.5\n" for i in range(1, 5) for j in range(2))
    )
    found = joined(path, long)
    assert [view.name for view in found.views] == ["rna", "atac", "long"]
    assert (found.n_samples, found.n_common) == (4, 2)


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("x.csv", "sample,a,b\ns1,1.5,2\ns2,2.5,3\n", "view"),
        ("x.csv", "sample,sex,centre\ns1,m,q\ns2,f,r\n", "table"),
        ("x.csv", "sample,sex,centre,age\ns1,m,q,5\ns2,f,r,6\n", "table"),
        ("cll_samples.csv", "sample,age,weight\ns1,40.5,70\ns2,50.5,80\n", "table"),
        ("genes.csv", "gene,text,s1,s2,s3\ng1,a,1.5,2,3\ng2,b,2.5,3,4\n", "view"),
    ],
)
def test_roles(tmp_path, name, text, role):
    path = tmp_path / name
    path.write_text(text)
    assert guess_role(path) == role
