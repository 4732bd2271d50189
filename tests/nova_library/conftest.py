# SPDX-License-Identifier: Apache-2.0
"""Collect these tests only if Nova is installed; `make test-nova` creates such an environment."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("nova") else ["test_*.py"]
