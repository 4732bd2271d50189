# SPDX-License-Identifier: Apache-2.0
"""Write the page: with its files next to it for a server, or all in one file."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

from wirespeed.report.base.theme import DARK, LIGHT, css_variables

# In the order in which they need each other; a page loads them as one.
_SCRIPTS = (
    "decode.js", "samples.js", "picture.js", "source.js", "events.js", "draw.js",
    "trials.js", "path.js", "cpus.js", "pane.js", "table.js", "player.js", "page.js",
)  # fmt: skip
SCRIPT, STYLE = "page.js", "page.css"
DATA_START = '<script type="application/json" id="data">'
DATA_END = "</script>"
# Nothing is loaded from anywhere; only what the page itself brings may run.
_CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:"
SERVED_POLICY = (
    f"{_CLOSED}; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"
)


def style() -> str:
    """Return the style of the page, with the colours of reports."""
    dark = css_variables(DARK)
    colours = (
        f":root{{color-scheme:light dark;{css_variables(LIGHT)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
    return colours + _file(STYLE)


def script() -> str:
    """Return all scripts of the page."""
    return "".join(map(_file, _SCRIPTS))


def served_page(title: str) -> str:
    """Return the page whose files and data a server has. Its paths are relative: see server.py."""
    loaded = f'<link rel="stylesheet" href="{STYLE}">\n<script src="{SCRIPT}" defer></script>\n'
    head = _head(title, loaded)
    return f"{head}{_file('body.html')}</body>\n</html>\n"


def page_start(title: str) -> str:
    """Return the part of a file that comes before its data."""
    policy = f"{_CLOSED}; script-src {_digest(script())}; style-src {_digest(style())}"
    meta = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
    return _head(title, f"{meta}<style>{style()}</style>\n") + _file("body.html")


def page_end() -> str:
    """Return the part of a file that comes after its data."""
    return f"<script>{script()}</script>\n</body>\n</html>\n"


def _head(title: str, inside: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{inside}"
        f'<title>{escape(title)} - wirespeed</title>\n<link rel="icon" href="data:,">\n'
        "</head>\n<body>\n"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _file(name: str) -> str:
    return (files("wirespeed.live") / "static" / name).read_text(encoding="utf-8")
