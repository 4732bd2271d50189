# SPDX-License-Identifier: Apache-2.0
"""What holds for every test: none depends on how fast the machine is."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "wirespeed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("explore", parent=settings.get_profile("wirespeed"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "wirespeed"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked `root` change this host (huge pages, namespaces): skipped for anybody else."""
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root"))
