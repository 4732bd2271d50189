# SPDX-License-Identifier: Apache-2.0
"""Choose and order the measured combinations of factors, and estimate each factor's effect."""
