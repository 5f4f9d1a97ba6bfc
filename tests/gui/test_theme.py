"""Tokens, fonts, live switching, icons."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QFontInfo, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from plaidwork.gui import tokens
from plaidwork.gui.icons import app_icon, icon, icon_names, pixmap
from plaidwork.gui.palettes import contrast, hex_to_srgb, lut, srgb_to_oklab
from plaidwork.gui.theme import ink_on, theme
from plaidwork.gui.widgets import Card, Chip, KeyFigure, Label, SegmentedControl, button

SCHEMES = tokens.SCHEMES
GROUNDS = ("window", "surface", "sunken")


def code(name: str, scheme: str) -> str:
    return tokens.COLORS[name][SCHEMES.index(scheme)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_contrast(scheme):
    for ink, ground in itertools.product(("text", "muted", "faint"), GROUNDS):
        assert contrast(code(ink, scheme), code(ground, scheme)) >= 4.5, (ink, ground)
    for ink in ("ok", "warn", "error", "link"):
        assert contrast(code(ink, scheme), code("surface", scheme)) >= 4.5, ink
    for ink in ("ok", "warn", "error"):
        assert contrast(code(ink, scheme), code(f"{ink}_on", scheme)) >= 4.5, ink
    assert contrast(code("on_accent", scheme), code("accent", scheme)) >= 4.5
    assert contrast(code("text", scheme), code("tint", scheme)) >= 4.5
    assert contrast(code("link", scheme), code("tint", scheme)) >= 4.5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_marks_contrast(scheme):
    for mark in (code("control", scheme), *tokens.CATEGORIES[scheme]):
        for ground in ("window", "surface"):
            assert contrast(mark, code(ground, scheme)) >= 3, (mark, ground)


@pytest.mark.parametrize(("scheme", "least"), [("light", 0.12), ("dark", 0.15)])
def test_categories_are_apart(scheme, least):
    lab = srgb_to_oklab(hex_to_srgb(tokens.CATEGORIES[scheme]))
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(lab, 2)]
    assert min(gaps) >= least


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["tide", "loom", "soft_loom"])
def test_maps_are_smooth_tables(scheme, name):
    table = lut(name, scheme)
    assert table.shape == (256, 4)
    assert table.dtype == np.uint8
    assert not table.flags.writeable
    lightness = srgb_to_oklab(table[:, :3] / 255.0)[:, 0]
    assert np.abs(np.diff(lightness)).max() < 0.02


def test_map_ends_are_the_anchors():
    rgb = lut("tide", "light")[[0, -1], :3]
    assert [f"#{r:02X}{g:02X}{b:02X}" for r, g, b in rgb.tolist()] == ["#EAF8FA", "#19237D"]
    with pytest.raises(KeyError, match="tide"):
        lut("jet", "light")


def test_unknown_names_say_what_was_meant(qapp):
    with pytest.raises(KeyError, match="did you mean 'surface'"):
        theme().color("surfce")
    with pytest.raises(KeyError, match="did you mean 'search'"):
        icon("serach")
    with pytest.raises(KeyError, match="caption"):
        theme().font("tiny")
    with pytest.raises(ValueError, match="system"):
        theme().set_mode("sepia")


def test_fonts_are_shipped_with_tabular_figures(qapp):
    body, strong = theme().font("body"), theme().font("strong")
    assert QFontInfo(body).family() == "Inter"
    assert strong.weight() == 600
    assert body.pointSizeF() >= 10
    assert theme().font("caption").pointSizeF() >= 8.5
    from PySide6.QtGui import QFont, QFontMetrics

    assert body.featureValue(QFont.Tag("tnum")) == 1
    widths = {QFontMetrics(body).horizontalAdvance(d) for d in "0123456789"}
    assert len(widths) == 1


def test_the_shipped_font_is_used(qapp):
    assert theme().font("body").families()[:1] == ["Inter"]


def test_mode_system_follows_only_then(qapp, qtbot):
    with qtbot.waitSignal(theme().changed):
        theme().set_mode("dark")
    assert theme().is_dark
    assert QApplication.palette().color(QPalette.ColorRole.Window).name().upper() == "#14171C"
    theme().set_mode("system")
    assert theme().mode == "system"
    assert theme().scheme == "light"  # offscreen the system scheme is unknown


def _pane(qtbot) -> QWidget:
    pane = QWidget()
    qtbot.addWidget(pane)
    layout = QVBoxLayout(pane)
    for made in (
        Label("Title", "title"),
        Label("warn", color="warn"),
        Label("muted", color="muted", elide=True),
        Chip("Look", "warn"),
        KeyFigure("Sweep", "12", "of 20"),
        SegmentedControl(["Data", "Fit"]),
        button("Start fit", kind="primary", icon_name="play"),
        button("Open", icon_name="open"),
        Card(),
    ):
        layout.addWidget(made)
    pane.resize(300, 420)
    return pane


def test_light_dark_light_is_pixel_equal(qtbot):
    pane = _pane(qtbot)
    light = pane.grab().toImage()
    theme().set_mode("dark")
    dark = pane.grab().toImage()
    assert dark != light
    theme().set_mode("light")
    assert pane.grab().toImage() == light
    theme().set_mode("dark")
    assert _pane(qtbot).grab().toImage() == dark


@pytest.mark.parametrize("name", icon_names())
def test_icons_have_ink_in_both_schemes(qapp, name):
    for scheme in SCHEMES:
        theme().set_mode(scheme)
        picture = icon(name).pixmap(QSize(16, 16), 2.0).toImage()
        assert picture.size() == QSize(32, 32)
        alphas = [picture.pixelColor(x, y).alpha() for x in range(32) for y in range(32)]
        assert max(alphas) > 120
        assert alphas.count(0) > 100


def test_icon_follows_the_theme_and_fades(qapp):
    def darkest(mode: QIcon.Mode) -> tuple[str, int]:
        image = icon("stop").pixmap(QSize(32, 32), mode).toImage()
        color = max((image.pixelColor(x, 16) for x in range(32)), key=lambda c: c.alpha())
        return color.name().upper(), color.alpha()

    assert darkest(QIcon.Mode.Normal) == ("#1A2029", 255)
    assert darkest(QIcon.Mode.Disabled)[1] < 200
    theme().set_mode("dark")
    assert darkest(QIcon.Mode.Normal) == ("#E7EAEF", 255)


def test_icons_survive_copies_and_collection(qapp):
    for k in range(300):
        copy = QIcon(icon("plus"))
        if k % 3 == 0:
            copy.addPixmap(pixmap("minus", 8))
        copy.pixmap(16)
        del copy
    gc.collect()
    assert not icon("plus").pixmap(16).isNull()
    assert len(app_icon().availableSizes()) >= 5


def test_ink_contrasts_with_its_ground(qapp):
    maps = [lut(name, scheme)[::8, :3] for name in ("tide", "loom") for scheme in SCHEMES]
    grounds = [f"#{r:02x}{g:02x}{b:02x}" for table in maps for r, g, b in table.tolist()]
    grounds += [color for scheme in SCHEMES for color in tokens.CATEGORIES[scheme]]
    grounds += [f"#{grey:02x}{grey:02x}{grey:02x}" for grey in range(256)]
    for color in grounds:
        assert contrast(ink_on(QColor(color)).name(), color) >= 4.5, color


def test_start_modules_stay_light():
    code = (
        "import sys; import plaidwork.gui.theme, plaidwork.gui.icons, plaidwork.gui.style,"
        " plaidwork.gui.widgets, plaidwork.gui.numbers;"
        "print(sorted({'pyqtgraph','scipy','numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
