"""Colours as readers see them: contrast by WCAG 2, and differences for colour-blind readers."""

from __future__ import annotations

import numpy as np

VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""Linear RGB as a reader sees it, by kind of vision (Machado and others 2009, severity 1)."""

TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""Linear sRGB to CIE XYZ (IEC 61966-2-1)."""

WHITE = (0.95047, 1.0, 1.08883)
"""White of sRGB (D65) in XYZ."""


def linear(colour: str) -> np.ndarray:
    """Returns the linear RGB of a colour such as `#0072b2`."""
    share = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of WCAG 2, from 1 to 21."""
    dark, light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def difference(one: str, other: str, vision: str) -> float:
    """Returns the distance of two colours in CIELAB for a kind of vision; 2.3 is barely seen."""
    return float(np.linalg.norm(_lab(one, vision) - _lab(other, vision)))


def _lab(colour: str, vision: str) -> np.ndarray:
    """Returns a colour in CIELAB as readers with this vision see it."""
    share = TO_XYZ @ np.clip(VISIONS[vision] @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
