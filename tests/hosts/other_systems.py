# SPDX-License-Identifier: Apache-2.0
"""Make recordings and simulated hosts of distributions that wirespeed has not run on.

`other_systems/README.md` says what is a fact of the distribution, and what is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.hosts.emulated import EMULATED, record
from tests.hosts.fake_runner import FakeRunner
from tests.support.fake_boot import FakeBoot, Grub2Mkconfig, Grubby, UpdateGrub
from tests.support.fake_host import FakeHost
from tests.support.fake_kernel import LAB
from wirespeed.host.owners import SERVICES, SHOW
from wirespeed.model.distribution import Family
from wirespeed.remote.recording import load

HERE = Path(__file__).parent
FOLDER = HERE / "other_systems"


@dataclass(frozen=True)
class OtherSystem:
    """A distribution: its folder, its boot loader's program, and its active services."""

    name: str
    family: Family
    boot: type[FakeBoot]
    active: tuple[str, ...] = ()

    def files(self) -> dict[str, str]:
        root = FOLDER / self.name
        return {f"/{path.relative_to(root)}": path.read_text() for path in _files(root)}

    def runner(self) -> FakeRunner:
        """Return the recorded machine with this distribution."""
        machine = load(HERE / EMULATED)
        fake = FakeRunner(self.name)
        fake.files |= dict.fromkeys(machine.names, "")
        fake.files |= {path: PermissionError(path) for path in machine.denied}
        fake.files |= {path: OSError(path) for path in machine.unreadable}
        fake.files |= machine.files | self.files()
        fake.files["/proc/sys/kernel/hostname"] = f"{self.name}\n"
        for done in machine.commands:
            fake.answer(done.argv, done.stdout, done.stderr, done.exit_code)
        states = (("active" if name in self.active else "inactive", name) for name in SERVICES)
        fake.answer(SHOW, "\n".join(f"Id={n}.service\nActiveState={s}\n" for s, n in states))
        return fake

    def record(self, folder: Path) -> None:
        """Write what `wirespeed inspect --record` writes there."""
        record(self.runner(), folder)

    def host(self) -> FakeHost:
        """Return a simulated host that can be changed."""
        files = self.files()
        ours = {path: text for path, text in files.items() if path.startswith(("/etc", "/usr"))}
        defaults = ours.pop("/etc/default/grub", None)
        boot = Grub2Mkconfig(defaults) if defaults else self.boot()
        release = files["/proc/sys/kernel/osrelease"].strip()
        return FakeHost(server=replace(LAB, release=release, files=ours), boot_loader=boot)


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file())


OTHER_SYSTEMS = (
    OtherSystem("rhel-9-tuned", Family.RHEL, Grubby, ("irqbalance", "tuned")),
    OtherSystem("rhel-10", Family.RHEL, Grubby, ("irqbalance", "tuned")),
    OtherSystem("ubuntu-22.04", Family.DEBIAN, UpdateGrub, ("irqbalance",)),
    OtherSystem("ubuntu-24.04-tuned", Family.DEBIAN, UpdateGrub, ("tuned",)),
    OtherSystem("sles-15", Family.SUSE, Grub2Mkconfig, ("irqbalance",)),
)
