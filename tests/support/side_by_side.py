# SPDX-License-Identifier: Apache-2.0
"""Order test files for parallel workers.

A worker takes the next file when it has finished one. A long file must not come last, when the
other workers have nothing left. Files that wait should not run all at once, or the CPUs idle.
pytest-xdist's own order is by the number of tests, which puts a file with one long test at the end.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
# These files wait for a peer that does not answer, a browser, a broken link, or a build.
_WAITS = (
    _TESTS / "speedtest",
    _TESTS / "real/test_real_ssh.py",
    _TESTS / "dataplane/test_howto.py",
)


def order(items: list[pytest.Item]) -> None:
    """Alternate files that wait with the others.

    Of the files that wait, those with few, long tests come first; of the others, those with many
    tests.
    """
    tests = Counter(item.path for item in items)
    waiting = [path for path in tests if any(path.is_relative_to(each) for each in _WAITS)]
    others = [path for path in tests if path not in waiting]
    turns = {path: (turn, 0) for turn, path in enumerate(sorted(waiting, key=tests.__getitem__))}
    others.sort(key=tests.__getitem__, reverse=True)
    turns |= {path: (turn, 1) for turn, path in enumerate(others)}
    items.sort(key=lambda item: turns[item.path])
