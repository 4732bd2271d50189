# SPDX-License-Identifier: Apache-2.0
"""Let a routing daemon of the router learn its generated routes from a BGP peer.

The peer is in a namespace of its own and announces the routes over a cable of its own.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Mapping, Sequence

from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.host.process import Daemon
from wirespeed.bench.interface import BenchError
from wirespeed.bench.routing.bfd import BfdSession, bfd_sessions, latest
from wirespeed.bench.routing.kernel import RouterNamespace
from wirespeed.bench.routing.part import GeneratedRoutes, RoutesSetup
from wirespeed.bench.routing.programs import (
    BIRD,
    BIRD_CONTROL,
    REAL_TIME,
    check_daemon,
    frr_program,
)
from wirespeed.bench.routing.texts import (
    announcing_protocols,
    backup_peer,
    backup_session,
    bird,
    changing_protocols,
    frr_bfdd,
    frr_bgpd,
    peer,
    peer_end,
    router_end,
)
from wirespeed.model.study.routing import RoutingDaemon

PEER, BACKUP_PEER = "peer", "backup"
# Cables of the peers, by the same name at both ends.
_CABLES = {PEER: "bgp", BACKUP_PEER: "bgp1"}
_MTU = 1500
# Linux reports changes of a carrier once a second (linkwatch).
_STEADY_S = 1.2


class LearnedRoutes(GeneratedRoutes):
    """Routes that a routing daemon learns from a BGP peer."""

    def __init__(self, setup: RoutesSetup) -> None:
        super().__init__(setup)
        self._bfd: Mapping[str, BfdSession] = {}
        self._peers: dict[str, str] = {}
        self._frozen: str | None = None
        self._carrier_s: float | None = None
        """Time at which all ports were first seen with a carrier, by the monotonic clock."""
        self._urgent: tuple[str, ...] = ()
        """Begin of the commands of programs that must answer BFD in time."""

    def prepare(self) -> None:
        runner = self._setup.host.runner
        check_daemon(runner, self._routing)
        if self._routing.bfd and not runner.run([*REAL_TIME, "true"], check=False).exit_code:
            self._urgent = REAL_TIME
        super().prepare()

    def waits_for_ports(self) -> str | None:
        """Return what the ports lack; None once they have had a carrier for a while.

        The kernel refuses next hops by a port without one. FRR tries again when Linux reports a new
        carrier, which it may not do for one that was lost for less than a second.
        """
        if dark := self.router.without_carrier():
            self._carrier_s = None
            return f"the carrier of {' and '.join(dark)}"
        if self._carrier_s is None:
            self._carrier_s = time.monotonic()
        steady = time.monotonic() - self._carrier_s >= _STEADY_S
        return None if steady else "a steady carrier of its ports"

    def load(self) -> None:
        """Start the peers, then the router's daemons."""
        table = self._setup.table
        self._peers[PEER] = self._cabled(PEER, range(table.routing.ecmp))
        self._start_bird(PEER, self._peers[PEER], peer(table))
        if table.routing.backup:
            self._peers[BACKUP_PEER] = self._cabled(BACKUP_PEER, [backup_session(table)])
            self._start_bird(BACKUP_PEER, self._peers[BACKUP_PEER], backup_peer(table))
        if self._routing.daemon is RoutingDaemon.BIRD:
            self._start_bird("bird", self._setup.namespace, bird(table), urgent=False)
        else:
            self._start_frr("zebra", ())
            if self._routing.bfd:
                control = ("--bfdctl", str(self._setup.dirs.run / "bfdd.sock"))
                self._start_frr("bfdd", frr_bfdd(), control, urgent=True)
            self._start_frr("bgpd", frr_bgpd(table))

    @property
    def bgp_daemon(self) -> str:
        """Return the name of the router's program that speaks BGP."""
        return "bird" if self._routing.daemon is RoutingDaemon.BIRD else "bgpd"

    def announce_all(self, peer: str, *, announces: bool) -> None:
        """Let a peer withdraw all routes that do not change, or announce them again."""
        self._switch(peer, announcing_protocols(), "r", on=announces)

    def kill(self, name: str) -> None:
        """Kill a program as a crash would."""
        self._named(name).kill()

    def start_again(self, name: str) -> None:
        """Start a program that was killed."""
        daemon = self._named(name)
        daemon.start(daemon.command, cpus=self._setup.cpus)

    def freeze(self, name: str, *, frozen: bool) -> None:
        """Stop a program without its end, or let it go on."""
        self._frozen = name if frozen else None
        for process in self._named(name).processes:
            process.signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def link(self, peer: str, *, up: bool) -> None:
        """Set the peer's end of its cable down or up; the router's end loses its carrier."""
        RouterNamespace(self._setup.host.runner, self._peers[peer]).batch(
            [f"link set dev {_CABLES[peer]} {'up' if up else 'down'}"]
        )

    def _named(self, name: str) -> Daemon:
        return next(daemon for daemon in self._daemons if daemon.name == name)

    def _find_missing(self) -> str:
        up = [session for session in self._bfd_sessions().values() if session.state == "Up"]
        if self._routing.bfd and len(up) < self._routing.ecmp:
            return f"BFD sessions: {len(up)} of {self._routing.ecmp}"
        return super()._find_missing()

    def settings(self) -> Mapping[str, str]:
        """Return the same with the states of BFD: one that was lost has another time."""
        found = {f"BFD session of {end}": str(one) for end, one in self._bfd_sessions().items()}
        return {**super().settings(), **found}

    def _bfd_sessions(self) -> Mapping[str, BfdSession]:
        """Return each session with the time of its last change, by the router's address."""
        if not self._routing.bfd:
            return {}
        if self._frozen == PEER:
            return self._bfd  # it would not answer
        words = [BIRD_CONTROL, "-s", self._control(PEER), "show", "bfd", "sessions"]
        text = self._setup.host.runner.run(words, check=False).stdout
        self._bfd = latest(self._bfd, bfd_sessions(text))
        return self._bfd

    def describe(self) -> Mapping[str, object]:
        found = {end: str(session) for end, session in self._bfd_sessions().items()}
        if found:
            found["priority"] = " ".join(self._urgent) or "no real-time priority: not permitted"
        return {**super().describe(), **({"BFD": found} if found else {})}

    def change(self, group: int, *, announces: bool) -> None:
        """Let the peer withdraw a group of routes, or announce it again."""
        self._switch(PEER, changing_protocols(group), f"c{group}v", on=announces)

    def _switch(self, peer: str, pattern: str, begin: str, *, on: bool) -> None:
        """Enable or disable the protocols of a peer that match; their names begin with `begin`."""
        socket, word = self._control(peer), "enable" if on else "disable"
        words = [BIRD_CONTROL, "-s", socket, word, f'"{pattern}"']
        answer = self._setup.host.runner.run(words).stdout
        if not any(line.startswith(begin) for line in answer.splitlines()):
            raise BenchError(f"the BGP peer changes no routes: {answer.strip()}")

    def _control(self, name: str) -> str:
        """Return the control socket of a BIRD."""
        return str(self._setup.dirs.run / f"{name}.ctl")

    def _cabled(self, peer: str, numbers: Sequence[int]) -> str:
        """Make a peer's namespace and its cable to the router; return the name.

        numbers: of its sessions.
        """
        network, cable = Network(self._setup.host, self._setup.dirs.tag), _CABLES[peer]
        namespace = network.host(peer)
        place = list(_CABLES).index(peer)
        ends = [
            VethEnd(where, cable, f"02:03:{end:02x}:{place:02x}:00:00")
            for end, where in enumerate((self._setup.namespace, namespace))
        ]
        network.connect(VethPair(*ends), _MTU)
        for where, address in ((self._setup.namespace, router_end), (namespace, peer_end)):
            addresses = (address(session) for session in numbers)
            RouterNamespace(self._setup.host.runner, where).batch(
                f"address add {each}/24 dev {cable}" for each in addresses
            )
        return namespace

    def _start_bird(
        self, name: str, namespace: str, lines: Iterable[str], *, urgent: bool = True
    ) -> None:
        """Start a BIRD. urgent: it is a peer, whose real CPU is that of another machine."""
        file = self._write(name, lines)
        words = [BIRD, "-f", "-c", file, "-s", self._control(name)]
        self._start(name, namespace, words, urgent=urgent)

    def _start_frr(
        self, name: str, lines: Iterable[str], options: Sequence[str] = (), *, urgent: bool = False
    ) -> None:
        file, run = self._write(name, lines), self._setup.dirs.run
        # As root, for the run directory is root's; FRR wants a user of the group of its terminals.
        words = [
            frr_program(name), "-f", file, "-i", str(run / f"{name}.pid"), "-P", "0",
            "-z", str(run / "zserv.api"), "--vty_socket", str(run), "-u", "root", "-g", "frrvty",
            "--log", "stdout", *options,
        ]  # fmt: skip
        self._check_frr(name, words)
        daemon = self._start(name, self._setup.namespace, words, urgent=urgent)
        if name == "zebra":
            daemon.await_socket(str(run / "zserv.api"), 30.0)

    def _check_frr(self, name: str, words: Sequence[str]) -> None:
        """Raise BenchError where a daemon refuses a line: it would go on without it."""
        done = self._setup.host.runner.run([*words, "--dryrun"], check=False)
        refused = [line for line in done.stderr.splitlines() if " on config line " in line]
        if done.exit_code != 0 or refused:
            reason = (refused or done.stderr.splitlines() or ["no reason"])[0]
            raise BenchError(
                f"{name} refuses its configuration: {reason}",
                f"Compare with the version of FRR that is installed: {frr_program(name)} --version",
            )

    def _start(self, name: str, namespace: str, words: Sequence[str], *, urgent: bool) -> Daemon:
        daemon = Daemon(name, self._setup.host, self._setup.dirs)
        self._daemons.append(daemon)
        command = [*inside(namespace), *(self._urgent if urgent else ()), *words]
        daemon.start(command, cpus=self._setup.cpus)
        return daemon

    def _write(self, name: str, lines: Iterable[str]) -> str:
        """Write a configuration file; return its path."""
        path = str(self._setup.dirs.run / f"{name}.conf")
        self._setup.host.runner.write(path, "".join(f"{line}\n" for line in lines))
        return path


def routes_part(setup: RoutesSetup) -> GeneratedRoutes:
    """Return the component that gives the router its routes."""
    static = setup.table.routing.daemon is RoutingDaemon.STATIC
    return GeneratedRoutes(setup) if static else LearnedRoutes(setup)
