# SPDX-License-Identifier: Apache-2.0
"""How is a plan written as files for the programs that apply it? One module for each target."""
