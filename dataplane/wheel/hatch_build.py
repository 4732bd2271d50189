# SPDX-License-Identifier: Apache-2.0
"""Mark the wheel as one for Linux on x86-64, and for any Python 3."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface[Any]):
    """Set the wheel's tag. No manylinux: the wheel needs libraries of the distribution."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"
