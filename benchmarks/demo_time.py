# SPDX-License-Identifier: Apache-2.0
"""Time the demo's study against the three minutes that it may take, and what watching adds to it.

Between trials the demo looks at all settings, and reads the times of all threads on its CPUs. The
share of the demo's time in these calls is printed; required is at most 3%.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.shared.figures import show

from wirespeed.bench.noise.settings import SettingsWatch
from wirespeed.bench.threads import HostThreads
from wirespeed.cli.main import main as command

ALLOWED_S = 180.0
ALLOWED_SHARE = 0.03
WATCHING: dict[str, tuple[type, tuple[str, ...]]] = {
    "settings": (SettingsWatch, ("look",)),
    "threads": (HostThreads, ("__init__", "before_traffic", "after_traffic", "at_rest",
                              "disturbances", "competitors", "threads")),
}  # fmt: skip


class Watching:
    """Adds up the time of calls, of which none calls another."""

    def __init__(self) -> None:
        self.calls = 0
        self.took_s = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            began = time.monotonic()
            try:
                return function(*args, **named)
            finally:
                self.took_s += time.monotonic() - began
                self.calls += 1

        return call


def main() -> int:
    watching = {what: Watching() for what in WATCHING}
    patches = [
        patch.object(kind, name, watching[what].timed(getattr(kind, name)))
        for what, (kind, names) in WATCHING.items()
        for name in names
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'demo.sqlite'}"
        words = ["wirespeed", "run", "quickstart", "--store", store]
        for replaced in patches:
            replaced.start()
        began = time.monotonic()
        code = _code_of(words)
        took_s = time.monotonic() - began
        for replaced in patches:
            replaced.stop()
    show("demo_measures_for", took_s, f"s asked {ALLOWED_S:g}")
    for what, each in watching.items():
        show(f"demo_watching_{what}", each.took_s / took_s, f"of-its-time-in-{each.calls}-calls")
    share = sum(each.took_s for each in watching.values()) / took_s
    show("demo_watching", share, f"of-its-time asked {ALLOWED_SHARE:g}")
    return code or int(not 0 < share <= ALLOWED_SHARE)


def _code_of(words: list[str]) -> int:
    """Run the command in this process, and return its exit code."""
    with patch.object(sys, "argv", words):
        try:
            command()
        except SystemExit as ended:
            return int(ended.code or 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
