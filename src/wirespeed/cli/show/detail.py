# SPDX-License-Identifier: Apache-2.0
"""Choose how much a command prints."""

from __future__ import annotations

from enum import Enum

from wirespeed.model.errors import BadInput


class Detail(Enum):
    """Amount of output during and after a study."""

    QUIET = "errors and the table"
    NORMAL = "a line for each point, the table, what to change"
    VERBOSE = "a line for each trial, and all that is known of the results"


def detail_of(*, quiet: bool, verbose: bool) -> Detail:
    """Return what -q and -v ask for. Raise BadInput for both."""
    if quiet and verbose:
        raise BadInput("-q and -v contradict each other", "Choose one.")
    return Detail.QUIET if quiet else Detail.VERBOSE if verbose else Detail.NORMAL
