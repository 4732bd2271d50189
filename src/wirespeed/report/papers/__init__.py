# SPDX-License-Identifier: Apache-2.0
"""How does a run stand beside what a paper published? One file a paper; each is pure."""
