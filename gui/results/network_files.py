"""A network as GraphML, for Cytoscape, Gephi, yEd, igraph and NetworkX."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plaidwork.core.quoting import markup
from plaidwork.gui.results.network import Shown

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""


def _data(key: str, value: object) -> str:
    return f'      <data key="{key}">{value}</data>\n'


def write_graphml(shown: Shown, places: np.ndarray, path: str | Path) -> Path:
    """Write nodes (label, group, strength, x, y) and links (weight, confidence) that are shown, in full precision."""
    network, path = shown.network, Path(path)
    keys = [("node", "label", "string"), ("node", "x", "double"), ("node", "y", "double")]
    if network.colours.title:
        keys.append(("node", "group", "string"))
    if network.strength is not None:
        keys.append(("node", "strength", "double"))
    keys.append(("edge", "weight", "double"))
    if network.confidence is not None:
        keys.append(("edge", "confidence", "double"))
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(_HEAD)
        for of, name, kind in keys:
            file.write(f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('  <graph edgedefault="undirected">\n')
        for i in np.sort(shown.nodes).tolist():
            file.write(f'    <node id="n{i}">\n' + _data("label", markup(network.names[i])))
            file.write(_data("x", repr(float(places[i, 0]))) + _data("y", repr(float(places[i, 1]))))
            if network.colours.title:
                file.write(_data("group", markup(network.colours.texts[i])))
            if network.strength is not None:
                file.write(_data("strength", repr(float(network.strength[i]))))
            file.write("    </node>\n")
        for e in shown.links.tolist():
            a, b = network.ends[e].tolist()
            file.write(f'    <edge source="n{a}" target="n{b}">\n')
            file.write(_data("weight", repr(float(network.weights[e]))))
            if network.confidence is not None:
                file.write(_data("confidence", repr(float(network.confidence[e]))))
            file.write("    </edge>\n")
        file.write("  </graph>\n</graphml>\n")
    return path
