# SPDX-License-Identifier: Apache-2.0
"""How does a host become what its plan says, and again what it was?"""
