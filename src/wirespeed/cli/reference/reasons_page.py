# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/reasons.md: every reason for which time of a trial does not count."""

from __future__ import annotations

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.model.result.reason import Reason

_HEAD = """# Reasons for excluding time

Reasons for which a window of a trial does not count
([how](../explanation/how-a-trial-is-judged.md#excluded-windows)). A window with several counts
for the first of this list.
"""


def reasons_page() -> str:
    """Return the whole page."""
    rows = [
        (reason.value, reason.about.meaning, reason.about.evidence, _blamed(reason))
        for reason in Reason
    ]
    head = ("excluded", "reason", "evidence", "explained as")
    return "\n".join([_HEAD, MADE, *table(head, rows)]).rstrip() + "\n"


def _blamed(reason: Reason) -> str:
    blame = reason.about.blame
    return "" if blame is None else f"`{blame.limit}`"
