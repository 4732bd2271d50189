# SPDX-License-Identifier: Apache-2.0
"""Add the builds of wsdp, and mark the wheel as one for Linux on x86-64 and any Python 3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Builds(BuildHookInterface[Any]):
    """Add builds/dpdk-RELEASE/wsdp. No manylinux: they need libraries of the distribution."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"
        for build in sorted(Path(self.root, "builds").glob("dpdk-*/wsdp")):
            installed = f"libexec/wirespeed/{build.parent.name}/wsdp"
            build_data["shared_data"][str(build)] = installed
