# SPDX-License-Identifier: Apache-2.0
"""Test that a guest of Nova runs as planned on one real compute host.

The host is an emulated server with the libvirt, Open vSwitch and agents of Debian.
"""
