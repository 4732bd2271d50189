# SPDX-License-Identifier: Apache-2.0
"""Set the words of the kernel command line in the host's boot loader.

`missing_words` compares the plan with the command line of the running kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.apply.step import Step
from wirespeed.apply.steps.boot_loader import BootLoader, NoBootLoader, key_of
from wirespeed.apply.steps.grub_defaults import GrubDefaults
from wirespeed.apply.steps.grub_drop_in import GrubDropIn
from wirespeed.apply.steps.grubby import GrubbyArguments
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner

# Program of each boot loader's setting, the first one found decides. RHEL also has grub2-mkconfig,
# which leaves the kernels' own entries (/boot/loader/entries) as they are.
_BOOT_LOADERS: tuple[tuple[str, type[BootLoader]], ...] = (
    ("update-grub", GrubDropIn),
    ("grubby", GrubbyArguments),
    ("grub2-mkconfig", GrubDefaults),
)


def kernel_steps(host: HostPlan, runner: Runner) -> list[Step]:
    """Return one step for the whole command line. Raises NoBootLoader."""
    if not host.kernel:
        return []
    because = "; ".join(f"{word.value}: {word.because}" for word in host.kernel)
    setting = boot_loader(runner)
    wanted = setting.with_words(runner, setting.read(runner), host)
    return [Step(setting, wanted, "kernel", because)]


def boot_loader(runner: Runner) -> BootLoader:
    """Return the setting of the host's boot loader. Raises NoBootLoader."""
    for program, setting in _BOOT_LOADERS:
        if runner.glob(f"/usr/sbin/{program}", f"/sbin/{program}"):
            return setting()
    names = [program for program, _ in _BOOT_LOADERS]
    raise NoBootLoader(
        "the kernel command line cannot be set: the host has none of "
        f"{', '.join(names[:-1])} and {names[-1]}",
        "Set it by the host's own means (`wirespeed plan render --to kernel` writes it).",
    )


def missing_words(host: HostPlan, cmdline: str) -> tuple[str, ...]:
    """Return the planned words that this kernel command line lacks, in planned order."""
    have = _pairs(cmdline.split())
    return tuple(
        word for word, pair in zip((w.value for w in host.kernel), _pairs([w.value for w in
        host.kernel]), strict=True) if pair not in have
    )  # fmt: skip


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return each word, with the page size that it belongs to where it is a count of pages."""
    size, found = "", []
    for word in words:
        if key_of(word) == "hugepagesz":
            size = word
        found.append((size if key_of(word) == "hugepages" else "", word))
    return found
