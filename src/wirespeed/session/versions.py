# SPDX-License-Identifier: Apache-2.0
"""Name the versions that a result was made with."""

from __future__ import annotations

import platform
from importlib.metadata import version


def own_versions() -> dict[str, str]:
    """Return the versions of wirespeed and its libraries; the bench adds those of the SUT."""
    return {
        "wirespeed": version("wirespeed"),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }
