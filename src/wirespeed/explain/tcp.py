# SPDX-License-Identifier: Apache-2.0
"""Explain the limit of TCP in each direction by the speed-test server's verdict."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, Proposal
from wirespeed.model.result.tcp import TcpFigure

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


def tcp(point: Measured) -> Iterator[Explanation]:
    """Yield one explanation per direction."""
    result = point.result.tcp
    for figure in result.figures if result is not None else ():
        direction = str(figure.direction)
        source = f"runs, {direction}"
        evidence = [
            EvidenceFigure("rate as this host is", figure.median_bps, "bits/s", source),
            EvidenceFigure("tests with this verdict", figure.agreeing, "tests", source),
            EvidenceFigure("tests", figure.tests, "tests", source),
            EvidenceFigure("retransmitted segments", figure.retransmits, "segments", source),
        ]
        because = "; ".join(figure.because)
        yield Explanation(
            figure.limited_by,
            f"{direction.capitalize()}: {limited_by(figure)}, as {because}.",
            tuple(evidence),
            _PROPOSALS.get(figure.limited_by),
        )


def limited_by(figure: TcpFigure) -> str:
    """Return the verdict as text, e.g. "server CPU", with its number of tests unless all agree."""
    verdict = figure.limited_by.replace("_", " ").replace("cpu", "CPU")
    agreed = "" if figure.agreeing == figure.tests else f" ({figure.agreeing} of {figure.tests})"
    return verdict + agreed
