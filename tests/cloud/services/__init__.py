# SPDX-License-Identifier: Apache-2.0
"""Services of the control plane, one file each."""
