# SPDX-License-Identifier: Apache-2.0
"""Compare the planner with the real Nova library, in its own environment: `make test-nova`."""
