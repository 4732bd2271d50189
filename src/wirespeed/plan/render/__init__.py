# SPDX-License-Identifier: Apache-2.0
"""How is a plan written down for the programs that carry it out? One file per target."""
