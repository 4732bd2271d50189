# SPDX-License-Identifier: Apache-2.0
"""Print a line where a log would otherwise be silent: CI servers end jobs that print nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

EVERY_S = 30.0


class Speaker(Protocol):
    """Prints lines."""

    spoke_at: float
    """Time of its last line, by the clock of its heartbeat."""

    def beat(self) -> None:
        """Print a line that says what goes on."""
        ...


class Clock:
    """Monotonic time in seconds, and waiting that can be ended."""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the end; return whether the end came."""
        return self._ended.wait(seconds)

    def end(self) -> None:
        self._ended.set()


@contextmanager
def heartbeat(speaker: Speaker, clock: Clock) -> Iterator[None]:
    """Let the speaker print whenever it was silent for EVERY_S, in the body."""

    def beat() -> None:
        while not clock.wait(max(0.0, speaker.spoke_at + EVERY_S - clock.now())):
            if clock.now() >= speaker.spoke_at + EVERY_S:
                speaker.beat()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        clock.end()
        thread.join()
