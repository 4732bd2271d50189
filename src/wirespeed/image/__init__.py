# SPDX-License-Identifier: Apache-2.0
"""How is a bootable Debian root made from package names, and found again?

A recipe names packages and files of ours; built once, the image stands in a directory named by
the recipe's hash: kernel, initramfs, root. Emulated machines boot from it without a network.
"""
