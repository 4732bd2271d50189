# SPDX-License-Identifier: Apache-2.0
"""Explain the limit of a workload without a search by the verdict of its measurement."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import Explanation, Proposal

_PROPOSALS = {
    "server_cpu": Proposal(
        "Give the server more CPU time, or less work for each octet: segmentation offloads, a "
        "larger MTU.", "tcp.offloads, tcp.mtu",
    ),
    "shared": Proposal(
        "Give the server more CPU time, or test with fewer clients at once: they take it from each "
        "other.", "tcp.clients",
    ),
    "client": Proposal("Give the clients more CPU time."),
    "receive_window": Proposal("Give the receivers larger socket buffers.", "tcp.window_bytes"),
    "send_buffer": Proposal("Give the senders larger socket buffers.", "tcp.window_bytes"),
}  # fmt: skip


def verdicts(point: Measured) -> Iterator[Explanation]:
    """Yield one explanation for each rate that was judged."""
    outcome = point.result.outcome
    for verdict in outcome.verdicts if outcome is not None else ():
        yield Explanation(
            verdict.limited_by,
            verdict.sentence,
            verdict.evidence,
            _PROPOSALS.get(verdict.limited_by),
        )
