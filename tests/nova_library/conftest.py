# SPDX-License-Identifier: Apache-2.0
"""These tests run only where Nova is installed; `make test-nova` makes such an environment."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("nova") else ["test_*.py"]
