# SPDX-License-Identifier: Apache-2.0
"""Define the type of a key that one type of switch has and others do not."""

from __future__ import annotations

from wirespeed.model.input.text import Line

OwnValue = bool | int | float | Line
OwnKey = tuple[str, OwnValue]
