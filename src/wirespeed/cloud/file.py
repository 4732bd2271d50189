# SPDX-License-Identifier: Apache-2.0
"""Read and write a cloud as a JSON file."""

from __future__ import annotations

from wirespeed.document.kind import DocumentKind
from wirespeed.model.cloud import Cloud

CLOUD_FILE = DocumentKind(
    Cloud,
    name="cloud",
    title="an OpenStack cloud as its API tells it",
    version="1.0",
    called="cloud file",
    next_step="Write it with `wirespeed inspect --openstack CLOUD --json > CLOUD.json`.",
)
