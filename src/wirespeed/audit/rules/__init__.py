# SPDX-License-Identifier: Apache-2.0
"""One audit rule a module: a constant RULE and its pure check."""
