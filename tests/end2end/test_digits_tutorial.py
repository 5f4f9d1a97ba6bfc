"""The commands of docs/digits.md, as they are typed, on the bundled digits; and the messages that it quotes."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from plaidwork.core.cli import main
from plaidwork.core.session.session import open_session

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "digits.md").read_text(encoding="utf-8")


BLOCKS = [block.splitlines() for block in re.findall(r"```sh\n(.*?)```", TUTORIAL, re.DOTALL)]
"""A fit and an export each: by variational inference, and by sampling, which takes longer."""


def typed(where, lines):
    """Run commands in a folder, one after the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(where)
        for line in lines:
            program, *words = shlex.split(line)
            assert program == "plaidwork"
            assert main(words) == 0, line


@pytest.fixture(scope="module")
def folder(tmp_path_factory, qapp):
    """A folder in which the commands of the first block were run."""
    where = tmp_path_factory.mktemp("digits")
    for name in ("digits.npz", "samples.csv"):
        shutil.copy(ROOT / "resources" / "examples" / "digits-3-5" / name, where)
    assert [len(lines) for lines in BLOCKS] == [2, 2]
    typed(where, BLOCKS[0])
    return where


@pytest.fixture(scope="module")
def all_typed(folder):
    """The same folder after all commands."""
    typed(folder, BLOCKS[1])
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["digits", "sampled"])
def test_the_commands_lead_to_errors_and_pictures(all_typed, name):
    run = next(iter(open_session(all_typed / f"{name}.plaidwork").runs.values()))
    assert run.results["loading_images"].values.shape[-2:] in ((8, 8), (12, 64))
    (place,) = (all_typed / name / "runs").iterdir()
    with next(place.rglob("metrics.csv")).open(encoding="utf-8", newline="") as file:
        halves = {row["Part"]: row for row in csv.DictReader(file)}
    assert int(halves["Test"]["Number"]) == 125
    assert float(halves["Test"]["Errors"]) < 0.15
    pictures = sorted(path.name for path in (place / "pictures").iterdir())
    more = "Factor-scores-Scatter.png" if name == "digits" else "Fit-One-feature.png"
    assert pictures == sorted([more, "Loadings-Images.png"])


@pytest.mark.slow
def test_the_tiles_are_images(folder):
    """Most of the picture is not the ground: the tiles fill it, in more than a few colours."""
    (path,) = (folder / "digits" / "runs").rglob("Loadings-Images.png")
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)
    assert image.width() > 2000
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)
    tiles = pixels[300:1500, 40 : int(0.7 * image.width()), :3].reshape(-1, 3)
    assert len(np.unique(tiles[::50], axis=0)) > 100


@pytest.mark.slow
def test_unknown_pictures_are_said(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["export", "digits.plaidwork", "--to", "none", "--picture", "Tiles"]) != 0
    said = capsys.readouterr().err
    assert "No run has a view “Tiles”" in said
    assert "Loadings/Images" in said
    assert not (folder / "none").exists()


def test_messages_are_those_that_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    halves = {"X_train": rng.normal(size=(8, 6)), "X_test": rng.normal(size=(5, 6))}
    np.savez("shape.npz", **halves, image_shape=[2, 4])
    np.savez("labels.npz", **halves, y_train=np.arange(8) % 2, y_test=np.arange(4) % 2)
    np.savez("one.npz", X=halves["X_train"], y=np.zeros(8, int))
    np.savez("fine.npz", X=halves["X_train"], y=np.arange(8) % 2)

    def said(file, *more):
        words = ["fit", "rank_factor_vb", "--input", f"X={file}", "--input", "y=X:row:label", *more]
        assert main([*words, "--out", "a.plaidwork"]) == 2
        return capsys.readouterr().err

    assert "image_shape says 2 × 4 = 8 pixels; X_train + X_test has 6 columns" in said("shape.npz")
    assert "y_test has 4 entries; X_test has 5 rows" in said("labels.npz")
    only = "Labels of two classes are needed among the training samples. Found only “0” (8)"
    assert only in said("one.npz")
    assert "Images of 4 × 4 have 16 pixels. Found 6 features." in said("fine.npz", "--set", "image_shape=4,4")
    assert "“Split” has no sample called “test”. Found: 0, 1." in said(
        "fine.npz", "--input", "split=X:row:label"
    )
