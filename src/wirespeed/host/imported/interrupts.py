# SPDX-License-Identifier: Apache-2.0
"""Write /sys/kernel/irq from /proc/interrupts, which names the same handlers.

Source: show_interrupts() in Linux: counts of the online CPUs, chip, number and trigger, handlers.
"""

from __future__ import annotations

import re

from wirespeed.remote.file_tree import FileTree

_NUMBERED = re.compile(r"\s*(\d{1,9}):((?:\s+\d+)+)\s+(\S.*)")
_HANDLERS = re.compile(r"\S+(?:\s+\S+)??\s+\d+(?:-\S+|\s+(?:Level|Edge)(?:-\S+)?)?\s{2,}(\S.*)")


def write_actions(tree: FileTree) -> None:
    """Add the handlers of each numbered interrupt, where the kernel's own files are not there."""
    text = tree.find("/proc/interrupts")
    if not isinstance(text, str) or tree.names("/sys/kernel/irq"):
        return
    for line in text.split("\n"):
        found = _NUMBERED.fullmatch(line.rstrip())
        handlers = _HANDLERS.fullmatch(found[3]) if found else None
        if found and handlers:
            names = ",".join(name.strip() for name in handlers[1].split(","))
            tree.add(f"/sys/kernel/irq/{found[1]}/actions", f"{names}\n")
