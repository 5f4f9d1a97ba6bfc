"""Tiny wheels made by hand, and plugins in one file, for the tests of the plugin folder."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest
from sparing import some

from plaidwork.core.plugins.plugin_install import put, search

MODEL = '''"""A guest for tests."""

import numpy as np

from plaidwork.core.api import (
    Input, Model, ModelSpec, Result, Schedule, Trace, Variable, View, hookimpl,
)


class Level(Model):
    spec = ModelSpec(
        id="{id}", version="{version}", title="{title}", summary="One level for all cells.",
        inputs=(Input("X", dims=("sample", "feature"), missing=True),),
        variables=(Variable("level"),),
        traces=(Trace("level", primary=True),),
        views=(View("bars", "Level", "level"),),
        schedule=Schedule(chains=2, warmup=2, draws=5),
    )

    def init(self, data, params, rng):
        return {{"level": 0.0}}

    def step(self, state, data, params, rng, clock):
        block = data["X"]
        known = int(block.observed.sum())
        centre = float(block.values.sum()) / (known + 1)
        state["level"] = centre + float(rng.standard_normal()) / np.sqrt(known + 1)
        return {{"level": state["level"]}}

    def draws(self, state, data, params):
        return {{"level": state["level"]}}

    def summarise(self, kept, data, params):
        found = np.array([chain.stack("level").mean() for chain in kept.chains])
        return {{"level": Result(found, ("chain",))}}


@hookimpl
def plaidwork_models():
    return [Level]
'''


def model_source(id: str = "guest.level", version: str = "0.1.0", title: str = "Level") -> str:
    """A plugin in one file with one model."""
    return MODEL.format(id=id, version=version, title=title)


def make_wheel(
    folder: Path,
    name: str = "guest_level",
    version: str = "0.1.0",
    *,
    source: str | None = None,
    needs: tuple[str, ...] = (),
    point: str | None = "level",
    files: dict[str, str] | None = None,
    tag: str = "py3-none-any",
    extra: str = "",
) -> Path:
    """A wheel with one module, ``name``; without ``point`` it brings no plugin."""
    texts = {f"{name}.py": model_source(version=version) if source is None else source, **(files or {})}
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {need}\n" for need in needs)
    texts[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n"
        f"Summary: A guest for tests.\nLicense-Expression: MIT\n{extra}{requires}"
    )
    texts[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n"
    if point is not None:
        texts[f"{info}/entry_points.txt"] = f"[plaidwork]\n{point} = {name}\n"
    rows = []
    for path, text in texts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text.encode())}")
    texts[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)
    return target


def without_pip(patch: pytest.MonkeyPatch) -> None:
    """As where there is no pip: wheels are unpacked by ourselves, which is quicker."""
    for module in (search, put):
        patch.setattr(module, "has_pip", lambda: False)


@pytest.fixture(params=some(["with pip", "without pip"], ["without pip"]))
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With pip among the slow tests, as it starts processes."""
    if request.param == "without pip":
        without_pip(monkeypatch)
