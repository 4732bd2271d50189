# SPDX-License-Identifier: Apache-2.0
"""The services of the control plane, a file each."""
