# SPDX-License-Identifier: Apache-2.0
"""List the reference pages and JSON schemas that are generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from wirespeed.audit.document import json_schema as audit_schema
from wirespeed.cli.reference.audit_rules import audit_rules_page
from wirespeed.cli.reference.commands import cli_page
from wirespeed.cli.reference.faults_page import faults_page
from wirespeed.cli.reference.kpi_page import kpi_page
from wirespeed.cli.reference.reasons_page import reasons_page
from wirespeed.cli.reference.result import result_page
from wirespeed.cli.reference.sriov_page import sriov_page
from wirespeed.cli.reference.study_file import study_page
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.document.kind import DocumentKind
from wirespeed.document.readable_json import readable_json
from wirespeed.fleet.snapshot_file import SNAPSHOT_FILE
from wirespeed.host.file import HOST_FILE
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.qualify.document import QUALIFICATION
from wirespeed.report.json.schema import explanation_schema, result_schema, tune_schema

DOCUMENT_KINDS: tuple[DocumentKind[Any], ...] = (HOST_FILE, CLOUD_FILE, PLAN_FILE, SNAPSHOT_FILE)
"""The documents that wirespeed reads back, whose schemas follow from their types."""


def _schema_page(schema: Callable[[], dict[str, Any]]) -> str:
    return readable_json(schema())


PAGES: Mapping[str, Callable[[], str]] = {
    "audit-rules.md": audit_rules_page,
    "cli.md": cli_page,
    "faults.md": faults_page,
    "kpi.md": kpi_page,
    "reasons.md": reasons_page,
    "result.md": result_page,
    "study-file.md": study_page,
    "../explanation/why-sriov-does-not-scale.md": sriov_page,
} | {
    f"../../schemas/{name}.schema.json": partial(_schema_page, schema)
    for name, schema in {
        **{kind.name: kind.json_schema for kind in DOCUMENT_KINDS},
        "audit": audit_schema,
        "explanation": explanation_schema,
        "qualification": QUALIFICATION.json_schema,
        "result": result_schema,
        "tune": tune_schema,
    }.items()
}
"""Writer of each generated page and schema, by its path from docs/reference."""
