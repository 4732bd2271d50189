# SPDX-License-Identifier: Apache-2.0
"""Define the services of the control plane, one file each."""
