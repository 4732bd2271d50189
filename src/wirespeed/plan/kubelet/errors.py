# SPDX-License-Identifier: Apache-2.0
"""Define why a kubelet does not start, or refuses a pod, in its own words."""

from __future__ import annotations


class KubeletRefusal(Exception):
    """A pod is refused; `reason` is the status.reason of the pod, the text its message."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class KubeletStartError(Exception):
    """The kubelet does not start with these settings on this machine."""


class KubeletHang(Exception):
    """The kubelet never answers: it loops without end (kubernetes issue 140730)."""


def unexpected(problem: str) -> KubeletRefusal:
    """Return the refusal of an allocation that failed after its hints were merged."""
    return KubeletRefusal(
        "UnexpectedAdmissionError", f"Allocate failed due to {problem}, which is unexpected"
    )
