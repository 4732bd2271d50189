# SPDX-License-Identifier: Apache-2.0
"""Blame time that polling threads spent in the kernel: system calls, page faults, traps.

A thread that polls in user space needs the kernel for none of its frames. What takes it there acts
on it from outside (a probe, memory that is taken from its page tables) or is a fault of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.blame_time import account, explains, thread_hop
from wirespeed.explain.seen import Seen, Spent
from wirespeed.explain.suspect import PLAINLY, STRAY, Suspect, figure
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.words import counted, share

# The kernel samples this time by its tick, so less is chance. On a virtual machine, interrupts and
# exits to the hypervisor took 4% of a healthy thread's time, so only PLAINLY more is a cause.
_SAMPLED_NS = 50_000_000
_EVERYWHERE = "; every polling thread was, so the host or its hypervisor may be the cause"


def kernel_time(found: Seen) -> Iterator[Suspect]:
    """Yield a suspect for each polling thread that was in the kernel for much of the time.

    Where all of them were, the host's noise may be the cause (a hypervisor that takes memory back).
    """
    everywhere = _least_in_kernel(found) >= PLAINLY
    for name, spent in _polling(found):
        # A thread that sleeps between polls calls the kernel for it.
        kernel_ns = _own_ns(found, spent)
        if kernel_ns < max(_SAMPLED_NS, PLAINLY * spent.elapsed_ns, spent.asleep_ns):
            continue
        inside = kernel_ns / spent.elapsed_ns
        frames = explains(found, name, kernel_ns)
        yield Suspect(frames, Explanation(
            "kernel_time",
            f"{name} was in the kernel for {share(inside)} of the time "
            f"({kernel_ns / 1e6:,.0f} ms), although polling needs no kernel: "
            f"{_faults(spent)}{_EVERYWHERE if everywhere else ''}.",
            (figure(f"{name} in the kernel", kernel_ns, "ns"),
             figure(f"minor page faults of {name}", spent.minor_faults, "1"),
             figure(f"major page faults of {name}", spent.major_faults, "1"),
             *account(name, spent)),
            Proposal("Find out what takes it there: a probe (perf, bpftrace), a tracer, memory "
                     "that is swapped or reclaimed, a system call of its own (perf trace -t TID)."),
            hop=thread_hop(name, spent),
        ), certain=not everywhere, harmless=frames <= STRAY * found.intended)  # fmt: skip


def _own_ns(found: Seen, spent: Spent) -> int:
    """Return the time in the kernel that is surely the thread's.

    Softirqs are charged to the thread that they interrupt. While it waits for its CPU, ticks fall
    on others, and the kernel scales those that are left up to its run time.
    """
    softirqs_ns = sum(ns for (cpu, _), ns in found.softirq_ns.items() if cpu in spent.cpus)
    return max(0, spent.kernel_ns - softirqs_ns - spent.waiting_ns)


def _faults(spent: Spent) -> str:
    """Describe the page faults; where there are few, a call or a trap took the time."""
    all_faults = spent.minor_faults + spent.major_faults
    if not all_faults:
        return "system calls, traps or interrupts, as it had no page fault"
    return (
        f"it had {counted(all_faults, 'page fault')} ({spent.major_faults:,} served from a disk or "
        "from swap), and perhaps system calls, traps and interrupts"
    )


def _polling(found: Seen) -> Iterator[tuple[str, Spent]]:
    """Yield the threads that have no work in the kernel: neither frames there, nor sleep."""
    for name, spent in found.spent.items():
        # A guest's exits to the hypervisor are kernel time of its vCPU.
        own = "/vcpu" not in name and not spent.calls_kernel and not spent.sleeps
        if spent.elapsed_ns and own:
            yield name, spent


def most_in_kernel(found: Seen) -> float:
    """Return the largest share of time that such a thread was in the kernel."""
    return max(_shares(found), default=0.0)


def _least_in_kernel(found: Seen) -> float:
    """Return the smallest share; 0 where only one thread polls, which compares with nothing."""
    shares = _shares(found)
    return min(shares) if len(shares) > 1 else 0.0


def _shares(found: Seen) -> list[float]:
    return [_own_ns(found, spent) / spent.elapsed_ns for _, spent in _polling(found)]
