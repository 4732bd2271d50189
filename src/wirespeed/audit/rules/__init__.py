# SPDX-License-Identifier: Apache-2.0
"""Hold the audit rules: one per module, as a constant RULE and its pure check."""
