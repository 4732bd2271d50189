# SPDX-License-Identifier: Apache-2.0
"""Quote words for a POSIX login shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

_WILDCARD = re.compile(r"(\[[^\]/]+\]|[*?])")


def shell_line(argv: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """Return the line that makes a POSIX shell run exactly argv, with env added."""
    return shlex.join([*_env_words(env), *argv])


def _env_words(env: Mapping[str, str] | None) -> list[str]:
    return ["env", *(f"{key}={value}" for key, value in env.items())] if env else []


def glob_words(pattern: str) -> str:
    """Return the pattern as shell text in which only *, ? and [...] keep a meaning."""
    pieces = _WILDCARD.split(pattern)
    return "".join(
        piece if _WILDCARD.fullmatch(piece) else shlex.quote(piece) for piece in pieces if piece
    )
