# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/reasons.md: every reason for which time of a trial does not count."""

from __future__ import annotations

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.model.result.reason import Reason

_HEAD = """# Reasons for excluding time

Reasons for which a window of a trial does not count
([how](../explanation/how-a-trial-is-judged.md#excluded-windows)). A window with several counts
for the first of this list.

What a router's control plane (routing daemons, the thread of wsdp that follows the kernel) takes
from a CPU that forwards is none of these: it counts as the SUT's own, and the result has
`limited_by: shared_control` ([decision](../decisions/0021-control-plane-on-the-routers-cpu.md)).
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
