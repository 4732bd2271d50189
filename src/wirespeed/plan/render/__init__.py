# SPDX-License-Identifier: Apache-2.0
"""Render a plan as files for the programs that apply it, one module per target."""
