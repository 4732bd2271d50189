# SPDX-License-Identifier: Apache-2.0
"""Write a qualification as one JSON document (schemas/qualification.schema.json)."""

from __future__ import annotations

from wirespeed.document.kind import DocumentKind
from wirespeed.qualify.qualification import Qualification

QUALIFICATION = DocumentKind(
    Qualification,
    name="qualification",
    title="wirespeed qualification",
    version="1.1",
    called="qualification",
    next_step="Write it with `wirespeed qualify --json > FILE`.",
)
