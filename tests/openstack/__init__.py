# SPDX-License-Identifier: Apache-2.0
"""A real OpenStack as ordinary processes, with simulated hosts: does it accept what we render?"""
