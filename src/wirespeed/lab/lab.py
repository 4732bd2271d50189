# SPDX-License-Identifier: Apache-2.0
"""Start, stop and show the one virtual testbed of a state directory.

    STATE/lab/NODE/...      see node_files.py
    STATE/lab/CABLE-NODE    a unix socket: that node's end of that cable
    STATE/lab/lab.toml      for `wirespeed run --lab`
    STATE/lab/up            exists once every node has answered
    STATE/ssh/NODE          ssh configuration for ssh://NODE

The holder of the lock STATE/lab.lock changes it. A directory without `up` and with a free lock was
left by a killed command.
"""

from __future__ import annotations

import fcntl
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wirespeed.image.cache import Image, ImageCache
from wirespeed.image.recipe import Recipe
from wirespeed.image.recipes import host
from wirespeed.lab import needs, node_files
from wirespeed.lab.errors import LabError
from wirespeed.lab.machine import CABLES, MEMORY_GIB, MachineSpec, check_size, port_address
from wirespeed.lab.node import BOOT_ID, Node
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.remote.interface import RemoteError, Runner
from wirespeed.remote.ssh_target import SshTarget
from wirespeed.remote.state import forget_ssh_config, keep_ssh_config, ssh_config_link

NAMES = ("lab1", "lab2")
WSDP = "/usr/local/bin/wsdp"


@dataclass(frozen=True, slots=True)
class Lab:
    """The testbed of a state directory."""

    state: Path
    """wirespeed's state directory, with one testbed at most."""
    runner: Runner
    """Runner of this machine."""

    @property
    def folder(self) -> Path:
        return self.state / "lab"

    @property
    def file(self) -> Path:
        return self.folder / "lab.toml"

    @property
    def logs(self) -> Path:
        """Folder with the nodes' consoles and QEMU's messages of the last failed `up`."""
        return self.state / "logs" / "lab"

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Nodes that have been made, running or not."""
        return tuple(Node.load(path.parent) for path in sorted(self.folder.glob("*/node.json")))

    @property
    def is_up(self) -> bool:
        """True if an `up` has finished and a node of it still runs."""
        return (self.folder / "up").exists() and any(node.running for node in self.nodes)

    def address(self, node: Node) -> str:
        """Return Runner.address of ssh://NODE."""
        return SshTarget(node.name, config=str(ssh_config_link(self.state, node.name))).url

    def node(self, name: str) -> Node:
        """Return a node. Raises BadInput for an unknown name."""
        nodes = {node.name: node for node in self.nodes}
        if name not in nodes:
            there = f"there are {', '.join(nodes)}" if nodes else "the lab is down"
            raise BadInput(f"the lab has no node {name!r}: {there}", "See `wirespeed lab status`.")
        return nodes[name]

    def up(
        self,
        images: ImageCache,
        *,
        nodes: int = 2,
        cpus: int = 8,
        memory_gib: int = MEMORY_GIB,
        recipe: Callable[[Runner], Recipe] = host,
        say: Callable[[str], None] = lambda _: None,
    ) -> tuple[Node, ...]:
        """Make and start all nodes at once and wait for their answers; on an error remove all.

        recipe: of the image that they boot from. Raises LabError or BadInput.
        """
        if not 1 <= nodes <= len(NAMES):
            raise BadInput(f"--nodes {nodes}: a lab has 1 or {len(NAMES)}", "Give one of them.")
        check_size(cpus, memory_gib)
        with self._changing():
            if self.is_up:
                names = ", ".join(node.name for node in self.nodes)
                raise LabError(f"the lab is already up: {names}", "`wirespeed lab down` ends it.")
            for line in self._removed():
                say(line)
            self.folder.mkdir(mode=0o700)
            try:
                with _reserved_ports(nodes) as ports:
                    specs = _specs(ports, cpus, memory_gib)
                    needs.check(self.runner, specs, self.folder)
                    return self._made(needs.built_image(self.runner, images, recipe), specs)
            except BaseException as fault:
                kept = self._keep_logs()
                tuple(self._removed())
                if kept and isinstance(fault, WirespeedError):
                    raise LabError(
                        fault.what, f"See what the nodes said in {self.logs}."
                    ) from fault
                raise

    def down(self) -> tuple[str, ...]:
        """End the nodes and remove their files; return a sentence for each."""
        with self._changing():
            return tuple(self._removed())

    def remove_leftover(self) -> tuple[str, ...]:
        """Remove the files of a killed command, or a testbed whose nodes have all ended."""
        if not self.folder.exists() or self.is_up:
            return ()
        try:
            return self.down()
        except LabBusy:
            return ()

    def power_cycle(self, name: str) -> None:
        """Cut the power of a node, restore it, and wait until the node answers."""
        node = self.node(name)
        node.kill()
        node.start()
        node.await_answer()

    def reboot(self, name: str) -> None:
        """Reboot a node from within, and wait until it answers again."""
        node = self.node(name)
        with node.runner() as runner:
            before = runner.read(BOOT_ID)
            with suppress(RemoteError):  # the reboot may cut the connection first
                runner.run(["systemctl", "reboot"], check=False)
        node.await_reboot(before)

    def _made(self, image: Image, specs: Sequence[MachineSpec]) -> tuple[Node, ...]:
        made = []
        for spec in specs:
            peer = NAMES[1] if spec.name == NAMES[0] else NAMES[0]
            node = node_files.make(self.runner, spec, image, self.folder / spec.name, peer)
            node.start()
            made.append(node)
        self._await_all(made)
        for node in made:
            keep_ssh_config(self.state, node.name, node.config)
        self.file.write_text(lab_file(made))
        (self.folder / "up").touch()
        return tuple(made)

    def _await_all(self, nodes: Sequence[Node]) -> None:
        with ThreadPoolExecutor(len(nodes)) as pool:
            try:
                for answered in [pool.submit(node.await_answer) for node in nodes]:
                    answered.result()
            except BaseException:
                # No thread waits longer for a node that is killed.
                for node in nodes:
                    node.kill()
                raise

    def _keep_logs(self) -> bool:
        """Copy the logs of started nodes; return whether there were any."""
        logs = [log for node in self.nodes for log in (node.console, node.log) if log.exists()]
        for log in logs:
            self.logs.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(log, self.logs / f"{log.parent.name}-{log.name}")
        return bool(logs)

    def _removed(self) -> Iterator[str]:
        """Remove the testbed while the caller iterates, with a sentence for each step."""
        if not self.folder.exists():
            return
        # Includes nodes with incomplete files: QEMU runs as soon as it is started.
        for lock in sorted(self.folder.glob("*/lock")):
            Node.load(lock.parent).kill()
            yield f"ended {lock.parent.name}"
        for name in NAMES:
            forget_ssh_config(self.state, name)
        shutil.rmtree(self.folder)
        yield f"removed {self.folder}"

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self.state.mkdir(parents=True, exist_ok=True)
        with open(self.state / "lab.lock", "a", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LabBusy(
                    f"another command is changing the lab in {self.folder}", "Wait for its end."
                ) from None
            yield


class LabBusy(LabError):
    """Raised when another command is changing the testbed."""


def lab_file(nodes: Sequence[Node]) -> str:
    """Return a file for study/lab.py: the nodes' ports are their NICs, joined by cable."""
    ports = ", ".join(f'{cable} = "{port_address(cable)}"' for cable in CABLES)
    return "\n".join(
        f'[hosts.{node.name}]\nssh = "ssh://{node.name}"\nports = {{ {ports} }}\nwsdp = "{WSDP}"\n'
        for node in nodes
    )


def _specs(ports: Sequence[int], cpus: int, memory_gib: int) -> tuple[MachineSpec, ...]:
    named = enumerate(zip(NAMES, ports, strict=False), 1)
    return tuple(MachineSpec(name, n, cpus, memory_gib, port) for n, (name, port) in named)


@contextmanager
def _reserved_ports(count: int) -> Iterator[list[int]]:
    """Keep ports of 127.0.0.1 for QEMU while the block runs.

    A socket is bound to each port and does not listen. QEMU sets SO_REUSEADDR, so it may listen
    there; the kernel gives the port to no other process.
    """
    with ExitStack() as kept:
        keepers = [kept.enter_context(socket.socket()) for _ in range(count)]
        for keeper in keepers:
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            keeper.bind(("127.0.0.1", 0))
        yield [int(keeper.getsockname()[1]) for keeper in keepers]
