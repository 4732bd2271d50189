# SPDX-License-Identifier: Apache-2.0
"""Differential tests against the real Nova library: `make test-nova` (its own virtual environment)."""
