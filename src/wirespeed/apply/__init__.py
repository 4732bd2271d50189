# SPDX-License-Identifier: Apache-2.0
"""Change a host to match its plan, and restore its previous state."""
