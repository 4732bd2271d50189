# SPDX-License-Identifier: Apache-2.0
"""Run a guest without a network function; programs start in it once it is up."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.interface import HopCount, UnstartedPart


class NoFunction(UnstartedPart):
    """A Part that is always ready."""

    name = "no function"

    def up(self) -> None:
        """Do nothing: there is nothing to start."""

    def begin(self) -> None:
        """Do nothing: it counts nothing."""

    def read(self) -> tuple[HopCount, ...]:
        return ()

    def down(self) -> None:
        """Do nothing: there is nothing to stop."""

    def describe(self) -> Mapping[str, object]:
        return {}
