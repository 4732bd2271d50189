# SPDX-License-Identifier: Apache-2.0
"""Format numbers for people: counts, rates, shares and times."""

from __future__ import annotations

NONE = "\N{EN DASH}"
# Printed next to every rate of a point whose SUT ran on emulated CPUs.
EMULATED = "emulated: says nothing about speed"


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: 1 guest, 2 guests."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def mpps(fps: float | None) -> str:
    """Return frames/s in millions with four significant digits, e.g. 7.268."""
    if fps is None:
        return NONE
    value = fps / 1e6
    decimals = 3 if value < 10 else 2 if value < 100 else 1
    return f"{value:.{decimals}f}"


def gbps(bits_per_second: float | None) -> str:
    return NONE if bits_per_second is None else f"{bits_per_second / 1e9:.2f}"


def quantity(value: float, unit: str) -> str:
    """Format a rate: "7.771 Mpps" of frames/s, "9.41 Gbps" of bit/s, "21,500 connections/s"."""
    match unit:
        case "frames/s":
            return f"{mpps(value)} Mpps"
        case "bit/s":
            return f"{gbps(value)} Gbps"
        case _:
            return f"{value:,.0f} {unit}"


def percent(share: float | None, decimals: int = 1) -> str:
    return NONE if share is None else f"{100 * share:.{decimals}f}%"


def loss(ratio: float) -> str:
    """Return a loss ratio in percent; "0" means no loss at all."""
    if ratio == 0:
        return "0"
    return f"{100 * ratio:.2g}%" if ratio < 0.01 else f"{100 * ratio:.1f}%"


def share(ratio: float) -> str:
    """Return a share of time or frames to the precision that matters: 78%, 3.1%, <0.1%."""
    if 0 < ratio < 0.001:
        return "<0.1%"
    return percent(ratio, 0 if ratio >= 0.0995 or ratio == 0 else 1)


def two_digits(ratio: float) -> str:
    """Return a ratio in percent to two digits: 0.05%, 3.1%, 120%."""
    return f"{100 * ratio:.0f}%" if ratio >= 0.0995 else f"{100 * ratio:.2g}%"


def frames(count: float) -> str:
    """Return a number of frames to two or three digits: 942 frames, 3.1 M frames."""
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if count >= limit:
            value = count / (1e3 if unit == " k" else limit)
            return f"{value:.1f}{unit} frames" if value < 100 else f"{value:.0f}{unit} frames"
    return f"{count:,.0f} frames"


def tiny(ratio: float) -> str:
    """Return a very small ratio to one digit: 1e-6."""
    mantissa, exponent = f"{ratio:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def microseconds(value_ns: float) -> str:
    value = value_ns / 1e3
    decimals = 0 if value >= 100 else 1 if value >= 1 else 2
    return f"{value:.{decimals}f}"


def seconds(value: float) -> str:
    """Return a duration: 0.25 s, 12 s, 3 min 05 s."""
    if value < 10:
        return f"{value:.3g} s"
    if value < 120:
        return f"{value:.0f} s"
    return f"{int(value) // 60} min {int(value) % 60:02d} s"
