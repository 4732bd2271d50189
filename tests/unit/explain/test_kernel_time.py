# SPDX-License-Identifier: Apache-2.0
"""Name polling threads that were in the kernel, or waited for pages, where that explains a loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.explain.test_accounts import threads, time
from tests.unit.explain.test_blame import AT_ENTRANCE, FPS, MS, SUT, explained, first, observed
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import Observation, PollingThread
from wirespeed.model.result.result import Bound, SearchResult
from wirespeed.model.result.thread_time import CpuInterrupts
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.report.text.limit_words import LIMIT_WORDS


def in_kernel(ms: int, minor: int = 0, major: int = 0, **more: int) -> tuple[PollingThread, ...]:
    """Return the threads, of which the PMD thread was in the kernel for so long of a second."""
    spent = replace(time(**more), kernel_ns=ms * MS, minor_faults=minor, major_faults=major)
    return threads(pmd=spent)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (
            observed(AT_ENTRANCE, threads=in_kernel(450)),
            ("pmd-c01/id:8 was in the kernel for 45% of the time (450 ms)", "no page fault"),
        ),
        (
            observed(AT_ENTRANCE, threads=in_kernel(450, minor=9000, major=3)),
            ("9003 page faults (3 served from a disk or from swap)",),
        ),
    ],
    ids=["calls and traps", "page faults"],
)
def test_kernel_time_that_explains_a_loss_is_named_first(
    seen: Observation, words: tuple[str, ...]
) -> None:
    assert first(seen) == ("kernel_time", "switch")
    sentence = explained(seen)[0].sentence
    assert [word for word in words if word not in sentence] == []
    assert "kernel_time" in LIMIT_WORDS


def test_kernel_time_explains_no_more_frames_than_were_offered_in_it() -> None:
    """40% were lost, and a tenth of the time was in the kernel."""
    busy = tuple(replace(thread, busy_share=0.5) for thread in in_kernel(100))
    limits = [e.limit for e in explained(observed(AT_ENTRANCE, threads=busy))]
    assert "kernel_time" in limits
    assert limits[0] == "cause_not_found"


def test_kernel_time_without_a_loss_is_reported_and_blamed_for_nothing() -> None:
    limits = [e.limit for e in explained(observed(threads=in_kernel(450)))]
    assert "kernel_time_harmless" in limits
    assert "kernel_time" not in limits


@pytest.mark.parametrize("ms", [0, 40, 90])
def test_kernel_time_of_a_healthy_virtual_machine_is_not_named(ms: int) -> None:
    limits = [e.limit for e in explained(observed(AT_ENTRANCE, threads=in_kernel(ms)))]
    assert "kernel_time" not in limits


@pytest.mark.parametrize(
    "of_purpose", [{"sleeps": True}, {"calls_kernel": True}], ids=["sleeps", "kernel carries"]
)
def test_kernel_time_of_a_thread_that_works_in_the_kernel_is_not_named(
    of_purpose: dict[str, bool],
) -> None:
    generator, pmd, vnf = in_kernel(450)
    own = (generator, replace(pmd, **of_purpose), vnf)  # type: ignore[arg-type]
    limits = [e.limit for e in explained(observed(AT_ENTRANCE, threads=own))]
    assert "kernel_time" not in limits


def test_kernel_time_of_every_polling_thread_is_put_down_to_the_host() -> None:
    spent = replace(time(), kernel_ns=450 * MS)
    everywhere = tuple(replace(thread, time=spent) for thread in in_kernel(450))
    found = next(
        each
        for each in explained(observed(AT_ENTRANCE, threads=everywhere))
        if each.limit == "kernel_time"
    )
    assert "every polling thread was, so the host or its hypervisor" in found.sentence
    [alone, *_] = explained(observed(AT_ENTRANCE, threads=in_kernel(450)))
    assert "every polling thread" not in alone.sentence


def test_kernel_time_of_a_thread_that_shared_its_cpu_may_be_scaled_up() -> None:
    shared = in_kernel(290, waiting=250)
    limits = [e.limit for e in explained(observed(AT_ENTRANCE, threads=shared))]
    assert "kernel_time" not in limits


def test_softirqs_that_the_kernel_charges_to_a_thread_are_named_as_interrupts() -> None:
    busy = in_kernel(420)
    cpu = next(thread.cpu for thread in busy if thread.name.startswith("pmd-"))
    steered = CpuInterrupts(cpu, "softirq NET_RX", 90_000, 90_000.0, time_share=0.4)
    found = explained(observed(AT_ENTRANCE, threads=busy, interrupts=(steered,)))
    assert found[0].limit == "interrupts"
    assert "kernel_time" not in {e.limit for e in found}


def test_kernel_time_of_short_sleeps_is_put_down_to_the_sleeps() -> None:
    found = explained(observed(AT_ENTRANCE, threads=in_kernel(100, away=400, left=4000)))
    assert found[0].limit == "poller_asleep"
    assert "kernel_time" not in {e.limit for e in found}


def test_cause_not_found_says_how_long_polling_threads_were_in_the_kernel() -> None:
    busy = [replace(thread, busy_share=0.5) for thread in in_kernel(10)]
    sentence = explained(observed(AT_ENTRANCE, threads=tuple(busy)))[0].sentence
    assert "their time in the kernel (at most 1.0%)" in sentence


def test_pages_that_a_thread_waited_for_are_no_sleep() -> None:
    seen = observed(AT_ENTRANCE, threads=in_kernel(50, major=300, away=400, left=310))
    assert first(seen) == ("page_faults", "switch")
    assert "waited for 300 pages that the kernel read" in explained(seen)[0].sentence


def test_unknown_loss_of_one_direction_names_it() -> None:
    lost = Drop("switch", DropCause.UNKNOWN, 20_000, "west-east")
    found = explained(observed(lost))
    assert found[0].limit == "unaccounted"
    assert "most at switch in direction west-east" in found[0].sentence
    whole = Trial(observed(lost), Stage.CONSTANT, quiet=True)
    result = SearchResult("fixed", False, (whole,), constant=Bound(FPS, FPS, 0.0))
    [told] = [e for e in explain(Measured(SUT, result)) if e.sentence.startswith("0.050 Mpps")]
    assert "dropped at switch in direction west-east: no hop counted them" in told.sentence
