# SPDX-License-Identifier: Apache-2.0
"""Define a report's colours by their purpose.

Text and lines keep a contrast of at least 4.5 to 1 with their theme's paper (WCAG 2.1, 1.4.3); a
test measures it.
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "panel": "#f6f7f9",
    "ink": "#1b212b",
    "muted": "#596270",
    "rule": "#e2e5ea",
    "accent": "#0b5cc4",
    "s0": "#0b5cc4",
    "s1": "#c2410c",
    "s2": "#0f766e",
    "s3": "#7c3aed",
    "s4": "#96650a",
    "s5": "#be185d",
    "s6": "#4a7a0c",
    "s7": "#475569",
    "pass": "#0f766e",
    "goal": "#96650a",
    "fail": "#c2410c",
    "invalid": "#6b7380",
}

DARK: Mapping[str, str] = {
    "paper": "#12151a",
    "panel": "#1a1e25",
    "ink": "#e8ebf0",
    "muted": "#a0a9b6",
    "rule": "#2b313b",
    "accent": "#6cb0ff",
    "s0": "#6cb0ff",
    "s1": "#ff9a62",
    "s2": "#4fd1c0",
    "s3": "#b79bff",
    "s4": "#e3b341",
    "s5": "#ff8cc0",
    "s6": "#a3d45c",
    "s7": "#a9b4c4",
    "pass": "#4fd1c0",
    "goal": "#e3b341",
    "fail": "#ff9a62",
    "invalid": "#98a1ae",
}

# Surfaces; the other colours are those of text and lines.
SURFACES = ("paper", "panel", "rule")


def css_variables(colours: Mapping[str, str]) -> str:
    """Return the colours as CSS custom properties: --ink:#1b212b;..."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())
