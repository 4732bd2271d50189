# SPDX-License-Identifier: Apache-2.0
"""Differential tests against the real Nova library, in its own environment: `make test-nova`."""
