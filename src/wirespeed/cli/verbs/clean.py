# SPDX-License-Identifier: Apache-2.0
"""wirespeed clean: undo what killed runs left on this host and others, and a killed testbed."""

from __future__ import annotations

import os

from wirespeed.bench.host.host import tidy_up_everywhere
from wirespeed.cli.console import print_line
from wirespeed.lab.lab import Lab
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.reach import reach
from wirespeed.remote.state import state_directory


def clean() -> None:
    """Undo what runs that were killed left behind: processes, huge pages, sockets, settings.

    Other hosts that a run was using are reached over ssh. A lab whose `up` was killed, or whose
    nodes have all ended, is removed, too. Ends with 1 when something is left.
    """
    state = state_directory(os.environ)
    undone = tidy_up_everywhere(reach, state)
    lab = Lab(state, LocalRunner()).remove_leftover()
    for line in (*undone.done, *lab):
        print_line(line)
    if undone.failed:
        raise WirespeedError(
            "\n".join(undone.failed), "Run `wirespeed clean` again once the cause is removed."
        )
    if not undone.done and not lab:
        print_line("Nothing to clean: no run left anything behind.")
