# SPDX-License-Identifier: Apache-2.0
"""Read what a kernel notified of its routing state, as `ip -ts monitor label` prints it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

# Room for the notifications of a full table that changes at once.
BUFFER_BYTES = 128 << 20
OBJECTS = ("route", "nexthop", "neigh")
_LINE = re.compile(r"\[(?P<time>[^\]]+)\] \[(?P<label>[A-Z]+)\](?P<deleted>Deleted )?(?P<rest>.*)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Notifications:
    """First notifications since an event, in ns by the host's clock (CLOCK_REALTIME)."""

    routes_ns: dict[str, int] = field(default_factory=dict)
    """First route that was added or replaced, by prefix."""
    hop_ns: int | None = None
    """First change of a neighbour or of a next-hop object; None if there was none."""

    def of(self, prefix: str) -> int | None:
        """Return the notification that moved a prefix; None if there was none."""
        return self.routes_ns.get(prefix, self.hop_ns)


def read_notifications(text: str, since_ns: int) -> Notifications:
    """Return the notifications of a text, from a time on."""
    routes: dict[str, int] = {}
    hop_ns = None
    for at_ns, label, deleted, rest in _lines(text):
        if at_ns < since_ns or deleted:
            continue
        if label == "ROUTE":
            routes.setdefault(_prefix(rest), at_ns)
        elif hop_ns is None:
            hop_ns = at_ns
    return Notifications(routes, hop_ns)


def _lines(text: str) -> Iterator[tuple[int, str, bool, str]]:
    """Yield time, label, "Deleted" and the rest; details on lines of their own are skipped."""
    for line in text.splitlines():
        if (found := _LINE.match(line)) is None:
            continue
        at = datetime.fromisoformat(found["time"]).replace(tzinfo=UTC)
        micros = (at - _EPOCH) // timedelta(microseconds=1)
        yield micros * 1000, found["label"], found["deleted"] is not None, found["rest"]


def _prefix(rest: str) -> str:
    """Return the prefix of a route; ip(8) prints that of one host without its length."""
    words = rest.split()
    # "local", "unicast" and others precede the prefix.
    word = next((word for word in words if word[:1].isdigit() or ":" in word), "")
    if not word or "/" in word:
        return word
    return f"{word}/{128 if ':' in word else 32}"
