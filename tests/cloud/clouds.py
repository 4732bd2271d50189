# SPDX-License-Identifier: Apache-2.0
"""Clouds of many plans, one after another, on one control plane."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.cloud.cloud import Cloud, cloud_on
from tests.cloud.computes import StartComputes
from tests.cloud.control_plane import ControlPlane, cache_directory, control_plane
from wirespeed.model.plan.plan import Plan


class Clouds:
    """Share one control plane between clouds; start another after a failure."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._control: ControlPlane | None = None

    @contextmanager
    def cloud(self, plan: Plan, start: StartComputes, image: bytes = b"\0") -> Iterator[Cloud]:
        """Run a cloud while the block runs (see cloud_on)."""
        try:
            if self._control is None:
                self._control = self._open.enter_context(control_plane(cache_directory(os.environ)))
            with cloud_on(self._control, plan, start, image) as made:
                yield made
        except BaseException:
            self._control = None
            # With the exception it keeps the logs.
            self._open.__exit__(*sys.exc_info())
            raise

    def close(self) -> tuple[str, ...]:
        """End the control plane. Return its leftovers, which must be none."""
        if self._control is None:
            return ()
        before, self._control = self._control.traces(), None
        self._open.close()
        return before.left()
