# SPDX-License-Identifier: Apache-2.0
"""Test rendered plans on a real OpenStack as ordinary processes, with simulated hosts."""
