# SPDX-License-Identifier: Apache-2.0
"""How are files of ours read, so that all their faults are told at once, each with its key?"""
