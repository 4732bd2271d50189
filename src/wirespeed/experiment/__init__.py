# SPDX-License-Identifier: Apache-2.0
"""Which combinations of factors are measured, in which order, and what did each factor change?"""
