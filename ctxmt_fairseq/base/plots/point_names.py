"""Puts names beside the points of a map so that they hide neither each other nor a point."""

import itertools
from typing import Any, List, Sequence

import numpy as np

FONT = 6.5  # points
LETTER, LINE = 0.055, 0.12  # inches that a name takes in this font
POINT = 0.14  # inches across
# Possible distances of a name from its point in inches, and directions; it takes the nearest free place.
REACHES = (0.09, 0.2, 0.35, 0.5, 0.7, 0.95, 1.25)
DIRECTIONS = np.arange(16) * np.pi / 8


def name_places(points: np.ndarray, names: Sequence[str], side: float) -> np.ndarray:
    """The centres of points' names, (n, 2) in inches from the lower left corner of a square map."""
    boxes = [np.concatenate([point - POINT / 2, point + POINT / 2]) for point in points]
    centres: List[np.ndarray] = []
    for point, name in zip(points, names, strict=True):
        size = np.array([LETTER * len(name), LINE])
        taken = np.array(boxes)
        best, least = point, np.inf
        for reach, angle in itertools.product(REACHES, DIRECTIONS):
            centre = point + np.array([np.cos(angle), np.sin(angle)]) * (reach + size / 2)
            low, high = centre - size / 2, centre + size / 2
            hidden = np.minimum(high, taken[:, 2:]) - np.maximum(low, taken[:, :2])
            outside = (np.maximum(-low, 0) + np.maximum(high - side, 0)).sum()
            cost = hidden.clip(min=0).prod(axis=1).sum() + outside
            if cost < least - 1e-9:
                best, least = centre, cost
        boxes.append(np.concatenate([best - size / 2, best + size / 2]))
        centres.append(best)
    return np.array(centres).reshape(-1, 2)


def draw_names(axes: Any, points: np.ndarray, names: Sequence[str], side: float) -> None:
    """Write the names of points, (n, 2) in the units of a map of about this side, with a line to each."""
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    axes.set(xlim=limits[0], ylim=limits[1])  # so that lines do not change them
    low, extent = limits[:, 0], limits[:, 1] - limits[:, 0]
    centres = name_places((points - low) / extent * side, names, side) if len(names) else ()
    for point, centre, name in zip(points, centres, names, strict=False):
        axes.annotate(
            name, point, low + centre / side * extent, fontsize=FONT, ha="center", va="center",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "gray", "shrinkB": 3},
        )  # fmt: skip
