# SPDX-License-Identifier: Apache-2.0
"""A guest that runs no network function of its own: programs are started in it when it is up."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.interface import HopCount, UnstartedPart


class NoFunction(UnstartedPart):
    """A Part that is always ready."""

    name = "no function"

    def up(self) -> None:
        """There is nothing to start."""

    def begin(self) -> None:
        """It counts nothing."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        """There is nothing to stop."""

    def describe(self) -> Mapping[str, object]:
        return {}
