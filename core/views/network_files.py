"""A network as GraphML, for Cytoscape, Gephi, yEd, igraph and NetworkX."""

from __future__ import annotations

import numpy as np

from plaidwork.core.quoting import markup
from plaidwork.core.views.network_data import Shown

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""


def _data(key: str, value: object) -> str:
    return f'      <data key="{key}">{value}</data>\n'


def graphml(shown: Shown, places: np.ndarray) -> str:
    """Nodes (label, group, strength, x, y) and links (weight, confidence) that are shown, in full precision."""
    network = shown.network
    keys = [("node", "label", "string"), ("node", "x", "double"), ("node", "y", "double")]
    if network.colours.title:
        keys.append(("node", "group", "string"))
    if network.strength is not None:
        keys.append(("node", "strength", "double"))
    keys.append(("edge", "weight", "double"))
    if network.confidence is not None:
        keys.append(("edge", "confidence", "double"))
    parts = [_HEAD]
    for of, name, kind in keys:
        parts.append(f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n')
    parts.append('  <graph edgedefault="undirected">\n')
    for i in np.sort(shown.nodes).tolist():
        parts.append(f'    <node id="n{i}">\n' + _data("label", markup(network.names[i])))
        parts.append(_data("x", repr(float(places[i, 0]))) + _data("y", repr(float(places[i, 1]))))
        if network.colours.title:
            parts.append(_data("group", markup(network.colours.texts[i])))
        if network.strength is not None:
            parts.append(_data("strength", repr(float(network.strength[i]))))
        parts.append("    </node>\n")
    for e in shown.links.tolist():
        a, b = network.ends[e].tolist()
        parts.append(f'    <edge source="n{a}" target="n{b}">\n')
        parts.append(_data("weight", repr(float(network.weights[e]))))
        if network.confidence is not None:
            parts.append(_data("confidence", repr(float(network.confidence[e]))))
        parts.append("    </edge>\n")
    parts.append("  </graph>\n</graphml>\n")
    return "".join(parts)
