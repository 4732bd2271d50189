# SPDX-License-Identifier: Apache-2.0
"""Test a planned guest that Nova starts on a real compute.

The compute is an emulated server with Debian's libvirt, Open vSwitch and agents.
"""
