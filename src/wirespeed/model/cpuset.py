# SPDX-License-Identifier: Apache-2.0
"""Convert kernel CPU lists ("2-35,38") and DPDK masks ("0x3000000003") to CPU numbers and back.

CPU numbers are the kernel's; sets are ascending tuples without repeats. Errors are ValueError and
quote the text.
"""

from __future__ import annotations

from collections.abc import Iterable

# Far above NR_CPUS of any distribution kernel. Bounds the memory that "0-99999999999" takes.
MAX_CPU = 65535
# Ranges may overlap, but a text of thousands of whole ranges would take minutes to parse.
_MOST_LISTED = 4 * (MAX_CPU + 1)


def parse_list(text: str) -> tuple[int, ...]:
    """Return the CPUs of a kernel or Nova list.

    Accepts "0-3,8", "0-15,^8" (Nova's exclusion) and "0-30:2/4" (stride). Skips the flags that
    isolcpus= puts before the CPUs ("managed_irq,domain,2-5"). Raises ValueError.
    """
    chosen: set[int] = set()
    excluded: set[int] = set()
    listed = 0
    for raw in text.replace("\n", ",").split(","):
        part = raw.strip()
        if not part or part in ("nohz", "domain", "managed_irq"):
            continue
        target = excluded if part.startswith("^") else chosen
        cpus = list(_range(part.removeprefix("^"), text))
        listed += len(cpus)
        if listed > _MOST_LISTED:
            raise ValueError(f"a CPU list names more than {_MOST_LISTED} CPUs")
        target.update(cpus)
    return tuple(sorted(chosen - excluded))


def _range(part: str, text: str) -> Iterable[int]:
    span, _, stride = part.partition(":")
    first, dash, last = span.partition("-")
    try:
        low = int(first)
        high = int(last) if dash else low
        used, _, group = stride.partition("/")
        take, period = (int(used), int(group)) if stride else (1, 1)
    except ValueError:
        raise ValueError(f"{part!r} in CPU list {text.strip()!r} is not a CPU or a range") from None
    if low > high or low < 0 or high > MAX_CPU or take < 1 or period < take:
        raise ValueError(f"{part!r} in CPU list {text.strip()!r} is not a possible range")
    if take == period:
        return range(low, high + 1)
    return (cpu for cpu in range(low, high + 1) if (cpu - low) % period < take)


def format_list(cpus: Iterable[int]) -> str:
    """Return the shortest kernel list, e.g. (0, 1, 2, 5) -> "0-2,5"; empty for no CPUs."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def parse_mask(text: str) -> tuple[int, ...]:
    """Return the CPUs of a hexadecimal mask. Raises ValueError.

    Accepts masks with or without 0x, quotes and the kernel's commas.
    """
    digits = text.strip().strip('"').lower().removeprefix("0x").replace(",", "")
    try:
        value = int(digits, 16)
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a hexadecimal CPU mask") from None
    if value < 0 or value.bit_length() > MAX_CPU:
        raise ValueError(f"{text.strip()!r} is not a possible CPU mask")
    return tuple(bit for bit in range(value.bit_length()) if value >> bit & 1)


def format_mask(cpus: Iterable[int]) -> str:
    """Return the mask in the form of Open vSwitch and DPDK, e.g. (2, 3) -> "0xc"."""
    return hex(sum(1 << cpu for cpu in set(cpus)))
