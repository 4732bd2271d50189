# SPDX-License-Identifier: Apache-2.0
"""Run a real OpenStack as ordinary processes with simulated hosts, and test our output on it."""
