# SPDX-License-Identifier: Apache-2.0
"""Emulate servers on which wirespeed can be tried: a virtual testbed.

They are two-socket servers with SR-IOV NICs, emulated by QEMU and booted by GRUB from disks of
their own. All files of a testbed are in one directory. Its nodes are reached like any host, as
ssh://NAME.
"""
