# SPDX-License-Identifier: Apache-2.0
"""Who may change the host's pools of huge pages now, or rely on pages that are free in them?"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

# One for the host, whoever runs: the pages are the host's, too.
_LOCK = "/run/lock/wirespeed-huge-pages"


@contextmanager
def pools_locked() -> Iterator[None]:
    """One run at a time: while programs of one take the pages that it found free, none adds pages
    or gives some back, which would be just those."""
    descriptor = os.open(_LOCK, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
