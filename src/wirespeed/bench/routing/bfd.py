# SPDX-License-Identifier: Apache-2.0
"""Read BFD sessions (RFC 5880) of BIRD, and tell a new change from an old one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

# A session is lost after this many intervals.
INTERVAL_MS, MULTIPLIER = 50, 3
_DETECTION = timedelta(milliseconds=INTERVAL_MS * MULTIPLIER)
_WORDS = 7


@dataclass(frozen=True, slots=True)
class BfdSession:
    """State of a BFD session, and the time of its last change by the host's clock."""

    state: str
    since: datetime

    def __str__(self) -> str:
        return f"{self.state} since {self.since.isoformat(' ', 'milliseconds')}"

    def changed_after(self, earlier: BfdSession) -> bool:
        """Return whether it changed since this earlier reading.

        BIRD writes the time as now less an age, from two clocks that it reads one after the other:
        the same change has another time in each reading. A session that was lost is up again no
        sooner than its loss can be detected.
        """
        return self.state != earlier.state or abs(self.since - earlier.since) >= _DETECTION


def bfd_sessions(text: str) -> dict[str, BfdSession]:
    """Return each session by its address from BIRD's `show bfd sessions`."""
    found = {}
    for words in (line.split() for line in text.splitlines()):
        # Address, interface, state, date, time, interval, timeout.
        if len(words) == _WORDS and words[0].count(".") == 3:
            since = datetime.fromisoformat(f"{words[3]} {words[4]}")
            found[words[0]] = BfdSession(words[2], since)
    return found


def latest(
    known: Mapping[str, BfdSession], read: Mapping[str, BfdSession]
) -> dict[str, BfdSession]:
    """Return the sessions that were read, each as it was known unless it changed since."""
    return {
        end: session if end not in known or session.changed_after(known[end]) else known[end]
        for end, session in read.items()
    }
