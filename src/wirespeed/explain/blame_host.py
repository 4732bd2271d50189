# SPDX-License-Identifier: Apache-2.0
"""Blame the host or the generator; such a loss says nothing about the SUT."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from wirespeed.explain.interface import Measured
from wirespeed.explain.seen import RINGS_OF_SUT, Seen
from wirespeed.explain.sum_trials import seen
from wirespeed.explain.suspect import MUCH, PLAINLY, STRAY, Suspect, figure
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.words import share

_SWITCH, _GENERATOR = "switch", "tg"
_ISOLATE = Proposal(
    "Isolate the polling CPUs from other programs.",
    "isolcpus, as wirespeed plan writes it",
)


def host(found: Seen) -> Iterator[Suspect]:
    """Blame another program on the forwarding CPUs, steal time, or unexplained stops."""
    if not found.time_ns:
        return
    lost = found.dropped(RINGS_OF_SUT)
    name, cpu, used = found.competitor(found.forwarding - found.generating)
    away_ns = found.away_ns("sut")
    if used > MUCH:
        # A SUT that resumes sends bursts, which may overflow the analyser's ring as well.
        lost += found.dropped({DropCause.TG_RX_RING_FULL})
        # It cost at most the frames that were offered while it ran.
        yield Suspect(min(lost, used * found.intended), Explanation(
            "pmd_core_shared",
            f"{_who(found, name, cpu)} used CPU {cpu}, which forwards, for {share(used)} of the "
            "time: the SUT could not poll its rings meanwhile.",
            (figure(f"CPU {cpu} used by {name}", used, "ratio"),
             figure("threads of the SUT away", away_ns, "ns"),
             figure("lost at full rings", lost, "frames")),
            _ISOLATE, hop=_SWITCH,
        ), certain=used > PLAINLY)  # fmt: skip
        return
    if not found.held:
        return
    stolen = found.steal_ns / found.time_ns
    if stolen > MUCH and lost > STRAY * found.offered:
        yield Suspect(lost, Explanation(
            "steal",
            f"The hypervisor took the CPUs that poll for {share(stolen)} of the time.",
            (figure("steal", found.steal_ns, "ns"), figure("lost at full rings", lost, "frames")),
            Proposal("Measure on a host whose CPUs are its own."), hop=_SWITCH,
        ))  # fmt: skip
    elif lost > STRAY * found.offered and (
        lost <= 2 * found.frames_in(found.beyond["sut"]) or away_ns > found.time_ns / 2
    ):
        yield Suspect(lost, Explanation(
            "sut_interrupted",
            f"Threads of the SUT were off their CPUs for {away_ns / 1e6:,.0f} ms: that "
            "is enough for all that was lost at full rings.",
            (figure("threads of the SUT away", away_ns, "ns"),
             figure("lost at full rings", lost, "frames")),
            _ISOLATE, hop=_SWITCH,
        ))  # fmt: skip


def _who(found: Seen, name: str, cpu: int) -> str:
    """Return the program with PID and start time; threads of the bench are marked as such."""
    other = found.beside[name, cpu]
    if other.own:
        return f"{name}, a thread of the bench that does not poll,"
    if not other.pid:
        return name
    started = datetime.fromtimestamp(other.started, UTC).strftime("%H:%M:%S UTC")
    return f"{name} (PID {other.pid}, started {started}, not the bench's own)"


def neighbours(point: Measured) -> Iterator[Explanation]:
    """Report other programs on CPUs where nothing polls, as candidates only.

    No counter of a trial separates a program that takes memory bandwidth from a harmless one.
    """
    found = seen(point.result)
    name, cpu, used = found.competitor(
        {cpu for _, cpu in found.shares} - found.forwarding - found.generating
    )
    if used > MUCH:
        yield Explanation(
            "memory_contention",
            f"{_who(found, name, cpu)} used CPU {cpu}, on which nothing of the bench polls, for "
            f"{share(used)} of the time. Whether it took bandwidth of memory, or cache, from the "
            "CPUs that poll, nothing measured here can tell: a candidate.",
            (figure(f"CPU {cpu} used by {name}", used, "ratio"),),
            Proposal(f"Measure again without {name} running."), hop="memory",
        )  # fmt: skip


def generator(found: Seen) -> Iterator[Suspect]:
    """Blame another program on the generator's CPU, or a generator that is too slow."""
    late = found.unsent + found.dropped({DropCause.TG_RX_RING_FULL})
    name, cpu, used = found.competitor(found.generating)
    away_ns = found.away_ns("generator")
    enough = found.frames_in(away_ns) >= late / 2
    if used > PLAINLY or (used > MUCH and enough):
        # Functions in the generator's process pause with it, so their rings overflow as well.
        lost = late + found.dropped(RINGS_OF_SUT)
        yield Suspect(min(lost, used * found.intended), Explanation(
            "generator_core_shared",
            f"{_who(found, name, cpu)} used CPU {cpu}, the generator's, for {share(used)} of the "
            "time: frames were offered late or not at all, which is no fault of the SUT.",
            (figure(f"CPU {cpu} used by {name}", used, "ratio"),
             figure("generator away", away_ns, "ns"), figure("unsent", found.unsent, "frames")),
            _ISOLATE, hop=_GENERATOR,
        ), certain=used > PLAINLY)  # fmt: skip
        return
    if not found.held or late <= STRAY * max(found.intended, 1):
        return
    if enough:
        yield Suspect(late, Explanation(
            "generator_interrupted",
            f"The generator was off its CPU for {away_ns / 1e6:,.0f} ms: that is enough for the "
            f"{found.unsent:,} frames that it gave up.",
            (figure("generator away", away_ns, "ns"), figure("unsent", found.unsent, "frames")),
            _ISOLATE, hop=_GENERATOR,
        ))  # fmt: skip
        return
    # A SUT that paused lets go a burst, by which the generator's ring overflows, too.
    if found.unsent <= STRAY * found.intended:
        return
    yield Suspect(late, Explanation(
        "generator_slow",
        f"The generator fell behind its schedule by itself and gave up {found.unsent:,} of "
        f"{found.intended:,} frames, though it had its CPU: the load was not what was asked for.",
        (figure("unsent", found.unsent, "frames"), figure("generator away", away_ns, "ns")),
        Proposal("Offer less, or give the generator more CPUs."), hop=_GENERATOR,
    ))  # fmt: skip
