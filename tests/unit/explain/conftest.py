# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from tests.unit.report.conftest import run

__all__ = ["run"]
