# SPDX-License-Identifier: Apache-2.0
"""Run a real kubelet with containerd, without a cluster, on an emulated server."""
