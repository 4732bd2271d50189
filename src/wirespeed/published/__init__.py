# SPDX-License-Identifier: Apache-2.0
"""Hold the papers' published rates: CSV files in data/, copied from the papers."""
