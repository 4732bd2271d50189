# SPDX-License-Identifier: Apache-2.0
"""List the reference pages that are generated."""

from __future__ import annotations

import json

from wirespeed.cli.reference.audit_rules import audit_rules_page
from wirespeed.cli.reference.commands import cli_page
from wirespeed.cli.reference.faults_page import faults_page
from wirespeed.cli.reference.kpi_page import kpi_page
from wirespeed.cli.reference.reasons_page import reasons_page
from wirespeed.cli.reference.result import result_page
from wirespeed.cli.reference.sriov_page import sriov_page
from wirespeed.cli.reference.study_file import study_page
from wirespeed.report.json.schema import result_schema


def pages() -> dict[str, str]:
    """Return every generated page by its file name in docs/reference."""
    return {
        "audit-rules.md": audit_rules_page(),
        "cli.md": cli_page(),
        "faults.md": faults_page(),
        "kpi.md": kpi_page(),
        "reasons.md": reasons_page(),
        "result.md": result_page(),
        "study-file.md": study_page(),
        "../../schemas/result.schema.json": json.dumps(result_schema(), indent=2) + "\n",
        "../explanation/why-sriov-does-not-scale.md": sriov_page(),
    }
