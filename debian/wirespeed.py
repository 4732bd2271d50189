#!/usr/lib/wirespeed/bin/python -s
# SPDX-License-Identifier: Apache-2.0
"""Run wirespeed with the libraries of its package, and none of the user's own."""

from wirespeed.cli.main import main

main()
