# SPDX-License-Identifier: Apache-2.0
"""How do polling threads get their CPUs rather than other programs of this host?

nice -20 for the bench and for whoever asks its questions, with the scheduler's autogroups off (with
them, niceness counts only within a session). That is for as long as the bench is up; realtime.py
does more, for the time of a short trial.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from wirespeed.bench.host_state import HostState

_AUTOGROUP = "kernel.sched_autogroup_enabled"
_MOST_URGENT = -20


@contextmanager
def polling_first(state: HostState) -> Iterator[str]:
    """Raises our own priority, which all programs of the bench inherit; yields what was done."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _MOST_URGENT)
    except PermissionError:
        yield f"nice {before}: only root may ask for more"
        return
    try:
        hindrance = state.set_sysctl(_AUTOGROUP, "0")
        yield f"nice {_MOST_URGENT}, {hindrance or 'autogroups off'}"
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)
