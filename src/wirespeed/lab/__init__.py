# SPDX-License-Identifier: Apache-2.0
"""How is a server emulated that wirespeed can be tried on?

Two-socket servers with SR-IOV NICs, emulated by QEMU and booted by GRUB from disks of their own.
What a lab consists of is below one directory; its nodes are reached like any host, as ssh://NAME.
"""
