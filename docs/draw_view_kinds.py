"""Draw the pictures of view-kinds.md: its code, toy data, the program's own pages. ``python docs/draw_view_kinds.py``"""

from __future__ import annotations

import io
import os
import re
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

DOCUMENT = Path(__file__).with_name("view-kinds.md")
PICTURES = DOCUMENT.parent / "pictures" / "views"
SIZE, COLOURS = (640, 380), 160


def entries() -> dict[str, str]:
    """Code of the document by kind of view; under an empty name what all begin with."""
    text = DOCUMENT.read_text(encoding="utf-8")
    parts = re.split(r"^### `(\w+)`$", text, flags=re.MULTILINE)
    codes = ["\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL)) for part in parts[0::2]]
    return dict(zip(["", *parts[1::2]], codes, strict=True))


def declared(kind: str, codes: dict[str, str]) -> dict[str, Any]:
    """What the code of a kind leaves: ``X``, ``results``, ``view``, and perhaps ``factory``."""
    space: dict[str, Any] = {}
    exec(compile(codes[""] + codes[kind], DOCUMENT.name, "exec"), space)
    return space


def toy_model(space: dict[str, Any]) -> Any:
    """A model that has these views and never fits; what it expects in the cells are scores times weights."""
    from plaidwork.core.api import Input, Model, ModelSpec, Schedule, Trace, Variable

    class Toy(Model):
        spec = ModelSpec(
            id="toy",
            version="1.0",
            title="Toy",
            summary="For pictures.",
            inputs=(Input("X", dims=("sample", "feature"), samples="sample", missing=True),),
            dims={"factor": "factors", "block": "blocks", "class": "classes"},
            variables=(Variable("level"),),
            traces=(Trace("fit", primary=True),),
            views=(space["view"],),
            schedule=Schedule(chains=1, warmup=1, draws=3),
        )

        def init(self, data, params, rng):
            return {}

        def step(self, state, data, params, rng, clock):
            return {"fit": 0.0}

        def draws(self, state, data, params):
            return {"level": 0.0}

        def summarise(self, kept, data, params):
            return space["results"]

        def fitted(self, kept, data, params, name, index, columns):
            mean = space["scores"] @ space["weights"][:, columns]
            return mean, 0 * mean + 0.4

    return Toy


def registry_of(model: Any, factory: Any) -> Any:
    """A registry that knows this model and this custom view."""
    from plaidwork.core.contract.plugin_info import PluginInfo
    from plaidwork.core.plugins.registry import Registry

    module: Any = ModuleType("toys")
    module.plaidwork_models = lambda: [model]
    module.plaidwork_views = lambda: [factory] if factory else []
    found = Registry()
    found._found = lambda: iter([(PluginInfo("toys", "toys", "document"), lambda: module)])
    return found.load()


def draw(kind: str, codes: dict[str, str]) -> bytes:
    """The picture of a kind as PNG."""
    from plaidwork.core.inference.plan import make_plan
    from plaidwork.core.plugins import registry
    from plaidwork.core.session.session import Session
    from plaidwork.gui.results.render import render_view

    space = declared(kind, codes)
    model = toy_model(space)
    registry._shared = registry_of(model, space.get("factory"))
    session = Session(name="Views")
    run = session.add_run(make_plan(model(), {"X": space["X"]}))
    run.chains[0].draws.append({"level": 0.0})
    run.results, run.results_draws, run.status = space["results"], 300, "done"
    return png_of(render_view(session, run, space["view"], SIZE, "light", 1.0))


def png_of(image: Any, colours: int = COLOURS) -> bytes:
    """A ``QImage`` as PNG with so many colours."""
    from PIL import Image
    from PySide6.QtCore import QBuffer

    buffer, out = QBuffer(), io.BytesIO()
    image.save(buffer, "PNG")
    picture = Image.open(io.BytesIO(bytes(buffer.data()))).convert("RGB").quantize(colours)
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PLAIDWORK_CONFIG"] = tempfile.mkdtemp()  # nobody's own settings
    codes = entries()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for kind in [kind for kind in codes if kind]:
        found = draw(kind, codes)
        (PICTURES / f"{kind}.png").write_bytes(found)
        print(f"{kind:<16}{len(found) / 1000:6.1f} kB")


if __name__ == "__main__":
    main()
