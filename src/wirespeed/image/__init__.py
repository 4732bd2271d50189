# SPDX-License-Identifier: Apache-2.0
"""Build a bootable Debian root from package names, and find it again.

A recipe names packages and own files. The built image is in a directory named by the recipe's hash:
kernel, initramfs, root. Emulated machines boot from it without a network.
"""
