# SPDX-License-Identifier: Apache-2.0
"""Define the result of counted TCP connections as the result document has it."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge
from typing_extensions import TypedDict

from wirespeed.model.result.result import Grade
from wirespeed.model.result.sessions import SessionsFigure, SessionsRun
from wirespeed.model.result.tcp import TcpLeftOut


class Sessions(TypedDict):
    """TCP connections with one HTTP request each (RFC 9411 sections 7.2 and 7.5)."""

    figures: list[SessionsFigure]
    """One."""
    runs: list[SessionsRun]
    """Every run, in order."""
    discarded: list[str]
    """Reasons why further runs failed."""
    watched_s: float
    """Time of all runs that was observed by intervals, in s; 0 for concurrent connections."""
    clean_s: float
    """Clean time, in s."""
    pieces: Annotated[int, Ge(0)]
    """Number of pieces of at most 0.3 s that clean_s consists of."""
    left_out: list[TcpLeftOut]
    """Excluded shares of watched_s."""


class SessionsResult(TypedDict):
    """Result of a point with counted TCP connections."""

    type: Literal["sessions"]
    search: Literal["sessions"]
    rfc2544_conformant: Literal[False]
    not_measurable: str | None
    """Reason why there is no rate although the runs ended."""
    grade: Grade | None
    """Certainty of the rates, as of a search over frames. Of concurrent connections: A where all
    runs agree, else C."""
    because: list[str]
    """Reasons against a better grade."""
    notes: list[str]
    """Sentences for the reader of the rates."""
    sessions: Sessions | None
    """Null if no run counts."""
