# SPDX-License-Identifier: Apache-2.0
"""Generate the reference pages from the code.

python -m wirespeed.cli.reference docs/reference
"""
