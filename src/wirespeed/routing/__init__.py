# SPDX-License-Identifier: Apache-2.0
"""Generate routing tables of any size, and write them for routers; pure.

The statistics of a table come from the caller: this package reads no file.
"""
