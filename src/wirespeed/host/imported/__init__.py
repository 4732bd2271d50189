# SPDX-License-Identifier: Apache-2.0
"""Read a host from what a support engineer has of it: sosreport, must-gather, lstopo's XML."""
