"""Where the texts of a picture on paper stand, read from its SVG: which stick out of the sheet, and which lie on another."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

import numpy as np

_SLACK, _SHARE = 1.0, 0.25
"""Units by which rounding may be off, and how much of the smaller of two texts may lie under another one."""
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def texts_of(svg: bytes) -> list[tuple[str, np.ndarray]]:
    """Words and box (left, top, right, bottom) in units of the sheet, of all texts that are not turned."""
    found: list[tuple[str, np.ndarray]] = []

    def walk(node: ElementTree.Element, matrix: np.ndarray) -> None:
        turned = node.get("transform", "")
        if turned.startswith("matrix"):
            a, b, c, d, e, f = (float(n) for n in _NUMBERS.findall(turned))
            matrix = matrix @ np.array([[a, c, e], [b, d, f], [0, 0, 1]])
        words = unescape(node.text or "").strip()
        if node.tag.endswith("text") and words:
            x, y, size = (float(node.get(key, "0")) for key in ("x", "y", "font-size"))
            wide = float(node.get("textLength", "0"))
            corners = np.array([[x, y - 0.75 * size, 1], [x + wide, y + 0.2 * size, 1]]) @ matrix.T
            found.append((words, np.concatenate([corners.min(axis=0)[:2], corners.max(axis=0)[:2]])))
        for child in node:
            walk(child, matrix)

    walk(ElementTree.fromstring(svg), np.eye(3))
    return found


def cut_texts(svg: bytes) -> list[str]:
    """What is wrong with the texts of a sheet, in words."""
    box = ElementTree.fromstring(svg).get("viewBox", "0 0 0 0")
    wide, high = (float(n) for n in box.split()[2:])
    texts, wrong = texts_of(svg), []
    for words, (left, top, right, bottom) in texts:
        if min(left, top) < -_SLACK or right > wide + _SLACK or bottom > high + _SLACK:
            wrong.append(
                f"“{words}” sticks out: {left:.0f} to {right:.0f} of {wide:.0f}, {top:.0f} to {bottom:.0f} of {high:.0f}"
            )
    boxes = np.array([box for _, box in texts]).reshape(-1, 4)
    size = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    for i in range(len(texts)):
        over = np.minimum(boxes[i, 2:], boxes[i + 1 :, 2:]) - np.maximum(boxes[i, :2], boxes[i + 1 :, :2])
        area = np.prod(np.maximum(over, 0), axis=1)
        for k in np.flatnonzero(area > _SHARE * np.minimum(size[i], size[i + 1 :])):
            other = texts[i + 1 + k][0]
            if other != texts[i][0]:  # a halo is the same words
                wrong.append(f"“{texts[i][0]}” lies on “{other}”")
    return wrong
