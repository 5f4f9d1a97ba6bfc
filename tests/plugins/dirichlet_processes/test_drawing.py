"""Pictures of clusters: what stands in the cells."""

import numpy as np

from plaidwork.core.api_pictures import ViewChoices
from plaidwork.plugins.dirichlet_processes.drawing import Profiled, draw_profiles


def test_a_column_has_the_same_decimals_in_all_clusters():
    """As many as its largest number needs; columns of other units have their own."""
    value = np.array([[2.4, 740.21, 0.25], [13.0, 1115.0, 0.5], [0.125, 520.5, 0.031]])
    interval = value[:, :, None] * [0.9, 1.1]
    far = np.array([[-1.0, 0.5, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    names, columns = np.array(["A", "B", "C"], object), np.array(["rate", "proline", "share"], object)
    picture = draw_profiles(Profiled(value, interval, far, columns, names), "", "", ViewChoices({}), "")
    (cells,) = picture.panels[0].marks
    texts = np.array([text.split("\n") for text in cells.labels]).reshape(3, 3, 2)
    assert texts[0].tolist() == [["2.4", "2.2 to 2.6"], ["13.0", "11.7 to 14.3"], ["0.1", "0.1 to 0.1"]]
    assert texts[1, :, 0].tolist() == ["740", "1\u202f115", "520"]
    assert texts[2, :, 0].tolist() == ["0.250", "0.500", "0.031"]
    assert cells.read[0].startswith("rate in A: 2.4 (2.2 to 2.6), −1.0 standard")
