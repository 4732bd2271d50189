# SPDX-License-Identifier: Apache-2.0
"""What does a run look like as one HTML file that opens anywhere, without a network?"""

from __future__ import annotations

from wirespeed.store.records import RunRecord


def html_report(run: RunRecord) -> str:
    return run.id
