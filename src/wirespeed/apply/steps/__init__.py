# SPDX-License-Identifier: Apache-2.0
"""Which settings of a host does a plan decide? One kind a file."""
