# SPDX-License-Identifier: Apache-2.0
"""Which figures did the papers publish? Tables as CSV files in data/, copied from the papers."""
