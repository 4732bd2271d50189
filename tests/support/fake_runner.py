# SPDX-License-Identifier: Apache-2.0
"""Implement the Runner of a simulated server: its commands and their changes, with cuts."""

from __future__ import annotations

import fnmatch
import json
import re
import socket
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from wirespeed.remote.interface import (
    Completed,
    Connection,
    HostLost,
    Process,
    ProgramMissing,
    RemoteError,
)

if TYPE_CHECKING:
    from tests.support.fake_disk import FakeDisk
    from tests.support.fake_host import FakeHost

WANTS = "/etc/systemd/system/multi-user.target.wants"


class FakeRunner:
    """One connection to a FakeHost, dead after a cut. local: a script on the host itself."""

    _numbers = count(1)

    def __init__(self, host: FakeHost, user: str, *, local: bool = False) -> None:
        self._host, self._user, self._local = host, user, local
        self._dead = False
        self._boot = host.boots

    name = "lab1"
    address = "ssh://lab1"

    def end(self) -> None:
        if self._host.holder is self:
            self._host.holder = None
            self._host.lock_is_free()

    # --- cuts

    def _alive(self) -> None:
        if self._dead or (not self._local and self._boot != self._host.boots):
            self._dead = True
            self.end()
            raise HostLost("the connection to lab1 broke", "")

    def _change(self, what: str, make: Callable[[], None], torn: Callable[[], None]) -> None:
        """Make a change unless the host is cut at it."""
        self._alive()
        host = self._host
        if self._local:
            make()
            return
        host.changes += 1
        host.log.append(what)
        cut = host.cut
        if cut is None or cut.at != host.changes:
            make()
            return
        host.cut = None
        # A reboot that never begins would be awaited for 900 s of real time.
        if cut.when == "after" or what == "systemctl reboot":
            make()
        elif cut.when == "torn":
            torn()
        self._dead = True
        self.end()
        if cut.what != "connection":
            host.lose_power(keep=cut.what == "power-kept")
        raise HostLost("the connection to lab1 broke", "")

    # --- Runner

    def write(self, path: str, text: str) -> None:
        host = self._host
        if path.startswith(("/sys/", "/proc/")):
            self._change(f"write {path} {text!r}", lambda: host.kernel.write(path, text),
                         lambda: None)  # fmt: skip
            return
        half = text[: len(text) // 2]
        self._change(f"write {path}", lambda: host.disk.write(path, text),
                     lambda: host.disk.write(path, half))  # fmt: skip

    def read(self, path: str) -> str:
        self._alive()
        if path == "/proc/sys/kernel/random/boot_id":
            return f"boot-{self._host.boots}\n"
        text = self._host.disk.read(path)
        if text is None:
            text = self._host.kernel.files.get(path)
        if text is None:
            text = next((n for a, n in self._host.opened.items() if path == _process(a)), None)
        if text is None:
            raise FileNotFoundError(2, "No such file or directory", path)
        return text

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        found: dict[str, str | OSError] = {}
        for path in paths:
            try:
                found[path] = self.read(path)
            except OSError as fault:
                found[path] = fault
        return found

    def glob(self, *patterns: str) -> tuple[str, ...]:
        self._alive()
        wild = [p for p in patterns if re.search(r"[*?\[]", p)]
        found = {p for p in patterns if p not in wild and self._exists(p)}
        for pattern in wild:
            known = self._host.kernel.paths.get(pattern.count("/"), set())
            found.update(filter(_regex(pattern).fullmatch, known))
        return tuple(sorted(found))

    def _exists(self, path: str) -> bool:
        host = self._host
        if host.kernel.driver_link(path) or path == f"/usr/sbin/{host.boot_loader.program}":
            return True
        if host.disk.read(path) is not None or host.disk.has_folder(path):
            return True
        return path in host.kernel.paths.get(path.count("/"), set())

    def readlink(self, path: str) -> str:
        self._alive()
        parts = path.split("/")
        if parts[-1] == "iommu_group":
            return f"/sys/kernel/iommu_groups/{parts[-2]}"
        return self._host.kernel.driver_link(path) or path

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        self._alive()
        assert path == "/run/wirespeed-apply.lock"
        assert self._host.holder is None
        self._host.holder = self
        try:
            yield
        finally:
            self.end()

    def spawn(self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None,
              cpus: Collection[int] | None = None, nice: int | None = None) -> Process:  # fmt: skip
        raise AssertionError(f"nothing is started: {argv} {log} {env} {cpus} {nice}")

    def connect(self, path: str, kind: socket.SocketKind) -> Connection:
        raise AssertionError(f"nothing connects to {path} {kind}")

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        assert env is None, timeout_s
        self._alive()
        if not self._user:
            raise RemoteError("the agent on lab1 did not start: sudo: a password is required")
        code, stdout = self._run(list(argv), stdin)
        if check and code != 0:
            raise RemoteError(f"`{' '.join(argv)}` on lab1 ended with {code}: {stdout}")
        return Completed(tuple(argv), code, stdout, "" if code == 0 else stdout)

    def _run(self, argv: list[str], stdin: str | None) -> tuple[int, str]:  # noqa: PLR0911, PLR0912
        host = self._host
        match argv:
            case ["id", "-u"]:
                return 0, f"{self._user}\n"
            case ["ss", "-Htnp", "state", "established"]:
                return 0, host.sockets
            case ["sh", "-c", "echo $PPID"]:
                return 0, "4711\n"
            case ["ip", "-json", "address", "show"]:
                return 0, json.dumps([{"ifname": name, "addr_info": [{"local": address}]}
                                      for address, name in host.addresses.items()])  # fmt: skip
            case ["stat", "-c", "%f %u %n", "--", *paths]:
                return self._stat(paths)
            case ["flock", "--nonblock", _, "true"]:
                return (1 if host.holder else 0), ""
            case ["df", "-Pk", *folders]:
                free = 1 << 20 if host.disk.room is None else host.disk.room // 1024
                lines = [f"/dev/vda1 9 9 {free} 1% {folder}" for folder in folders]
                return 0, "\n".join(["Filesystem", *lines]) + "\n"
            case ["ip", "-json", "route", "get", _]:
                return 0, json.dumps([{"dev": host.route_to_all}])
            case ["ip", "-json", "link", "show", "dev", name]:
                return self._show_link(name)
            case ["systemctl", "is-active", *units]:
                states = ["active" if f"--unit={unit.removesuffix('.timer')}" in host.timer else
                          "inactive" for unit in units]  # fmt: skip
                return (0 if "active" in states else 3), "\n".join(states) + "\n"
            case ["systemctl", "is-enabled", unit]:
                enabled = host.disk.read(f"{WANTS}/{unit}") is not None
                return (0, "enabled\n") if enabled else (1, "disabled\n")
            case ["virsh", *_]:
                return self._virsh(argv)
            case ["find", *_, "-lname", path]:
                return 0, self._found(path.rpartition("/")[2])
            case ["ovs-appctl", _, "netdev-dpdk/detach", address]:
                return (0, "") if host.opened.pop(address, "") == "ovs-vswitchd" else (2, "in use")
            case ["ovs-appctl", _, *command] if host.appctl and host.ovs is not None:
                pmds = command == ["dpif-netdev/pmd-rxq-show"]
                return 0, host.ovs.pmd_rxq_show(host.kernel.nodes) if pmds else ""
            case ["systemctl", "show", _, *units]:
                states = (f"Id={unit}\nActiveState=inactive\n" for unit in units)
                return 0, "\n".join(states)
            case ["ovs-appctl" | "dmidecode" | "rdmsr" as program, *_]:
                raise ProgramMissing(f"{program} is not installed on lab1")
            case ["ovs-vsctl", *words] if "--format=json" in words:
                if host.ovs is None:
                    raise ProgramMissing("ovs-vsctl is not installed on lab1")
                return 0, host.ovs.vsctl(words) or ""
        if argv[0] == host.boot_loader.program:
            shown = host.boot_loader.show(host.disk, argv[1:])
            if shown is not None:
                return 0, shown
        return self._run_change(argv, stdin)

    def _stat(self, paths: Sequence[str]) -> tuple[int, str]:
        """Return stat's output: all paths are root's own, except those that a test names."""
        disk, told = self._host.disk, []
        for path in paths:
            mode = "41c0" if disk.has_folder(path) else "8180"
            mode, user = self._host.owned.get(path, (mode, 0))
            if disk.has_folder(path) or disk.read(path) is not None:
                told.append(f"{mode} {user} {path}\n")
        return (0 if len(told) == len(paths) else 1), "".join(told)

    def _found(self, address: str) -> str:
        """Return the link of a process that has the function's group open."""
        there = address in self._host.opened
        return f"{_process(address).removesuffix('comm')}fd/9\n" if there else ""

    def _run_change(self, argv: list[str], stdin: str | None) -> tuple[int, str]:
        codes: list[int] = []

        def make() -> None:
            disk = self._host.disk
            refused = disk.read_only and _writes(disk, argv)
            codes.append(1 if refused else self._made(argv, stdin))

        def torn() -> None:
            if argv[0] == "dd" and stdin is not None:
                self._made(argv, stdin[: len(stdin) // 2])

        self._change(" ".join(argv), make, torn)
        if codes[0] == 0:
            return 0, ""
        return codes[0], "Read-only file system" if self._host.disk.read_only else "failed"

    def _made(self, argv: list[str], stdin: str | None) -> int:  # noqa: PLR0912
        host, disk = self._host, self._host.disk
        match argv:
            case ["install", "-d", "-m", "0700", path] | ["mkdir", "-p", path]:
                parts = path.split("/")
                for length in range(2, len(parts) + 1):
                    disk.make_folder("/".join(parts[:length]))
            case ["sync"]:
                host.sync()
            case ["sync", "-f", _]:
                disk.sync_all()
            case ["sync", *paths]:
                synced = [disk.sync(path) for path in paths]
                return 0 if all(synced) else 1
            case ["mv", "-T", old, new]:
                disk.move(old, new)
            case ["rm", "-f", *paths]:
                for path in paths:
                    disk.remove(path)
            case ["rm", "-rf", "--one-file-system", path]:
                disk.remove_tree(path)
            case ["rmdir", "--ignore-fail-on-non-empty", path]:
                disk.remove_folder(path)
            case ["dd", target, "oflag=append", "conv=notrunc,fsync", "status=none"]:
                _append(disk, target.removeprefix("of="), stdin or "")
            case [program, *words] if program == host.boot_loader.program:
                return host.boot_loader.run(disk, words)
            case ["cp", "-p", old, new]:
                disk.write(new, disk.read(old) or "")
            case ["systemctl", "daemon-reload"] | ["udevadm", "settle", *_]:
                pass
            case ["systemctl", "enable", unit]:
                disk.write(f"{WANTS}/{unit}", "link")
            case ["systemctl", "disable", unit]:
                disk.remove(f"{WANTS}/{unit}")
            case ["systemctl", "stop", *units]:
                host.stop(units)
            case ["systemctl", "reboot"]:
                host.reboot()
            case ["systemd-run", *words]:
                # The later of two timers replaces the earlier.
                host.timer[:] = words
            case ["modprobe", name]:
                host.kernel.modules.add(name)
                host.kernel.changed()
            case ["ip", "link", "set", "dev", name, "vf", number, key, value]:
                return 0 if host.kernel.set_vf(name, int(number), key, value) else 2
            case ["ip", "link", "set", "dev", name, "up" | "down" as way]:
                address = host.kernel.by_interface(name)
                host.kernel.up[address or ""] = way == "up"
                host.kernel.changed()
            case ["ovs-vsctl", *words]:
                if host.ovs is None:
                    raise ProgramMissing("ovs-vsctl is not installed on lab1")
                return 1 if host.ovs.vsctl(words) is None else 0
            case _:
                raise AssertionError(f"unknown command {argv}")
        return 0

    def _show_link(self, name: str) -> tuple[int, str]:
        kernel = self._host.kernel
        address = kernel.by_interface(name)
        if address is None or kernel.functions[address].driver != kernel.functions[address].kernel:
            return 1, f"Device {name} does not exist"
        shown = [
            {"vf": n, "address": vf["mac"], "vlan_list": [{"vlan": vf["vlan"]}] if vf["vlan"] else
             [{}], "spoofchk": vf["spoofchk"] == "on",
             **({"trust": vf["trust"] == "on"} if kernel.trust else {})}
            for n, vf in enumerate(kernel.vfs.get(address, []))
        ]  # fmt: skip
        flags = ["BROADCAST", *(["UP"] if kernel.up[address] else [])]
        return 0, json.dumps([{"ifname": name, "flags": flags, "vfinfo_list": shown}])

    def _virsh(self, argv: list[str]) -> tuple[int, str]:
        domains = self._host.domains
        if self._host.libvirt_fault:
            return 1, self._host.libvirt_fault
        if not domains:
            raise ProgramMissing("virsh is not installed on lab1")
        if argv[-2:] == ["list", "--name"]:
            return 0, "\n".join([*domains, "", ""])
        return 0, domains[argv[-1]]


def _writes(disk: FakeDisk, argv: Sequence[str]) -> bool:
    """Return whether a command changes files outside /proc and /sys."""
    match argv:
        case ["rm", "-f", *paths]:
            return any(disk.read(path) is not None for path in paths)
        case ["systemctl", "enable" | "disable", _]:
            return True
    return argv[0] in ("install", "mkdir", "mv", "cp", "rm", "rmdir", "dd", "update-grub",
                       "grubby", "grub2-mkconfig")  # fmt: skip


def _append(disk: FakeDisk, path: str, text: str) -> None:
    try:
        disk.append_synced(path, text)
    except OSError as fault:
        raise RemoteError(f"`dd` on lab1 ended with 1: {fault.strerror}") from fault


def _process(address: str) -> str:
    """Return the file with the name of the process that has this function open."""
    return f"/proc/7{int(address[5:7], 16)}{address[-1]}/comm"


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    parts = [fnmatch.translate(part).replace(".*", "[^/]*") for part in pattern.split("/")]
    return re.compile("/".join(parts).replace("\\Z", ""))
