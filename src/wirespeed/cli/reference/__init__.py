# SPDX-License-Identifier: Apache-2.0
"""The reference pages, written from the code itself.

python -m wirespeed.cli.reference docs/reference
"""
