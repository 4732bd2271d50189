# SPDX-License-Identifier: Apache-2.0
"""The reference pages, generated from the code.

python -m wirespeed.cli.reference docs/reference
"""
