# SPDX-License-Identifier: Apache-2.0
"""Define the settings of a host that a plan decides, one type per file."""
