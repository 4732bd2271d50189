# SPDX-License-Identifier: Apache-2.0
"""Measure by frames how a router converges after events."""
