# SPDX-License-Identifier: Apache-2.0
"""Read wirespeed's files and report all their errors at once, each with its key."""
