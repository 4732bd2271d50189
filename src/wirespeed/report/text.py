# SPDX-License-Identifier: Apache-2.0
"""How are rates, shares and times written for people?"""

from __future__ import annotations

from wirespeed.model.spec import PointSpec

NONE = "\N{EN DASH}"


def mpps(fps: float | None) -> str:
    """Frames/s in millions with four significant digits, e.g. 7.268."""
    if fps is None:
        return NONE
    value = fps / 1e6
    decimals = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{decimals}f}"


def gbps(bits_per_second: float | None) -> str:
    return NONE if bits_per_second is None else f"{bits_per_second / 1e9:.2f}"


def limiter(name: str) -> str:
    """Who limited a TCP test, e.g. "server CPU"."""
    return name.replace("_", " ").replace("cpu", "CPU")


def percent(share: float | None, decimals: int = 1) -> str:
    return NONE if share is None else f"{100 * share:.{decimals}f}%"


def loss(ratio: float) -> str:
    """A loss ratio so that "0" means none at all."""
    if ratio == 0:
        return "0"
    return f"{100 * ratio:.2g}%" if ratio < 0.01 else f"{100 * ratio:.1f}%"


def microseconds(value_ns: float) -> str:
    value = value_ns / 1e3
    decimals = 0 if value >= 100 else 1 if value >= 1 else 2
    return f"{value:.{decimals}f}"


def seconds(value: float) -> str:
    """A duration: 0.25 s, 12 s, 3 min 05 s."""
    if value < 10:
        return f"{value:.3g} s"
    if value < 120:
        return f"{value:.0f} s"
    return f"{int(value) // 60} min {int(value) % 60:02d} s"


def frame(spec: PointSpec) -> str:
    """The frame size as written, with the unit or the mean."""
    sizes = spec.traffic.frame
    if len(sizes.sizes) == 1:
        return f"{sizes.text} B"
    return f"IMIX {sizes.text} (mean {sizes.mean_bytes:.0f} B)"
