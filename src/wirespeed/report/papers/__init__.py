# SPDX-License-Identifier: Apache-2.0
"""Compare a run with what a paper published. One file a paper; each is pure."""
