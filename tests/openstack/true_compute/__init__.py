# SPDX-License-Identifier: Apache-2.0
"""One compute that is none of ours: an emulated server with Debian's libvirt, Open vSwitch and
agents, on which Nova starts a guest. Does it run as the plan says?"""
