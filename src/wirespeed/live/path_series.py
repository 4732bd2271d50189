# SPDX-License-Identifier: Apache-2.0
"""Find the switches, programs, tasks and interfaces of a recording, with lines for their ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.live.lanes import Form, Line
from wirespeed.live.path_parts import Cable, Owner, Path, Port, Queue, Stop
from wirespeed.model.result.recording import RecordedSeries

_MPPS = 1e-6
_LOST_IN = ("rx_missed", "rx_error", "rx_no_buffer")
# Number of a series, and its labels.
_Numbered = tuple[int, dict[str, str]]


class PathSeries:
    """Series by owner."""

    def __init__(self, series: Sequence[RecordedSeries]) -> None:
        self._found: dict[str, list[_Numbered]] = {}
        # By key and each label: a host may have thousands of ports.
        self._labelled: dict[tuple[str, str, str], list[_Numbered]] = {}
        for number, each in enumerate(series):
            numbered = number, dict(each.labels)
            self._found.setdefault(each.key, []).append(numbered)
            for label in each.labels:
                self._labelled.setdefault((each.key, *label), []).append(numbered)

    def _of(self, key: str, **labels: str) -> list[_Numbered]:
        return [each for each in self.likely(key, labels) if labels.items() <= each[1].items()]

    def likely(self, key: str, labels: Mapping[str, str]) -> Sequence[_Numbered]:
        """Return the fewest series of a key among which those with all these labels are."""
        if not labels:
            return self._found.get(key, [])
        return min((self._labelled.get((key, *each), []) for each in labels.items()), key=len)

    def _line(
        self, label: str, keys: Sequence[str], labels: Mapping[str, str], factor: float = 1.0
    ) -> Line | None:
        numbers = tuple(number for key in keys for number, _ in self._of(key, **labels))
        return Line(label, numbers, factor) if numbers else None

    def switches(self) -> list[Owner]:
        """Return the instances of Open vSwitch."""
        owners: dict[str, Owner] = {}
        for _, labels in self._found.get("port_packets", []):
            name, port = labels.get("switch", ""), labels.get("interface", "")
            owner = owners.setdefault(name, Owner(f"Open vSwitch {name}", "switch"))
            if port not in owner.ports:
                owner.ports[port] = self._switch_port(name, port)
        for name, owner in owners.items():
            for number, labels in self._of("datapath_dropped_packets", switch=name):
                cause = labels.get("cause", "").removeprefix("datapath_drop_").replace("_", " ")
                owner.lost.append(Line(cause, (number,)))
            for number, labels in self._of("pmd_busy_cycles", switch=name):
                idle = self._of("pmd_idle_cycles", **labels)
                rest = tuple(each for each, _ in idle)
                label = f"PMD on CPU {labels.get('cpu', '')}"
                owner.busy.append(Line(label, (number,), 100.0, Form.SHARE, rest))
        return list(owners.values())

    def _switch_port(self, switch: str, port: str) -> Port:
        labels = {"switch": switch, "interface": port}
        lost = self._line("drops", ("port_dropped_packets", "port_error_packets"), labels)
        into, out = (
            self._line(port, ("port_packets",), {**labels, "direction": direction}, _MPPS)
            for direction in ("rx", "tx")
        )
        return Port(port, into, out, lost)

    def programs(self) -> list[Owner]:
        """Return the DPDK programs: ours, and others but Open vSwitch, which counts its own."""
        owners: dict[str, Owner] = {}
        switched = "port_packets" in self._found
        for kind in ("device", "ethdev"):
            for _, labels in self._found.get(f"{kind}_rx_packets", []):
                name, port = labels.get("program", ""), labels.get("port", "")
                if switched and name.partition("#")[0].startswith("ovs"):
                    continue
                owner = owners.setdefault(name, Owner(name, "program"))
                if port not in owner.ports:
                    owner.ports[port] = self._program_port(kind, name, port)
        for _, labels in self._found.get("task_rx_packets", []):
            owners.setdefault(
                labels.get("program", ""), Owner(labels.get("program", ""), "program")
            )
        for name, owner in owners.items():
            self._load(name, owner)
        return list(owners.values())

    def _load(self, name: str, owner: Owner) -> None:
        """Add the load, losses and queues that a program's lcores, tasks and rings report."""
        for number, labels in self._of("lcore_busy_seconds", program=name):
            rest = tuple(each for each, _ in self._of("lcore_seconds", **labels))
            label = f"lcore {labels.get('lcore', '')}"
            owner.busy.append(Line(label, (number,), 100.0, Form.OF, rest))
        lost = self._line("discarded", ("task_discard_packets",), {"program": name})
        owner.lost += [lost] if lost else []
        for _, labels in self._of("ring_used", program=name):
            ring = labels.get("ring", "")
            used = self._line(ring, ("ring_used",), labels)
            if used is not None:
                owner.queues.append(Queue(ring, used, self._line(ring, ("ring_size",), labels)))

    def _program_port(self, kind: str, program: str, port: str) -> Port:
        labels = {"program": program, "port": port}
        into = self._line(port, (f"{kind}_rx_packets",), labels, _MPPS)
        out = self._line(port, (f"{kind}_tx_packets",), labels, _MPPS)
        keys = [f"{kind}_{word}_packets" for word in (*_LOST_IN, "tx_error")]
        return Port(port, into, out, self._line("drops", keys, labels))

    def refused(self, program: str) -> tuple[Line, ...]:
        """Return what the first ring refused of a generator's tasks."""
        found = self._line(
            "refused by the first ring", ("task_tx_fail_packets",), {"program": program}
        )
        return (found,) if found else ()

    def tasks(self, program: Owner) -> Path:
        """Return the path through the tasks of one program: generators first, sinks last."""
        names = [
            labels.get("task", "")
            for _, labels in self._of("task_rx_packets", program=program.name)
        ]
        ordered = sorted(names, key=lambda name: name.startswith("sink") - name.startswith("gen"))
        stops, cables = [], []
        for place, name in enumerate(ordered):
            labels = {"program": program.name, "task": name}
            lost = self._line("discarded", ("task_discard_packets",), labels)
            load = tuple(program.busy) if place == 0 else ()
            stops.append(Stop(name, f"task of {program.name}", load, (lost,) if lost else ()))
            if place + 1 < len(ordered):
                sent = self._line(name, ("task_tx_packets",), labels, _MPPS)
                full = self._line("refused, ring full", ("task_tx_fail_packets",), labels)
                queues = tuple(program.queues) if place == 0 else ()
                cables.append(
                    Cable(f"{name} to {ordered[place + 1]}", sent, None,
                          (full,) if full else (), queues)
                )  # fmt: skip
        return Path(tuple(stops), tuple(cables))

    def kernel(self) -> list[Owner]:
        """Return the kernel with its interfaces, loopback excluded."""
        owner = Owner("kernel", "interfaces")
        for _, labels in self._found.get("interface_packets", []):
            name = labels.get("interface", "")
            if name != "lo" and name not in owner.ports:
                owner.ports[name] = self._interface(name)
        return [owner] if owner.ports else []

    def _interface(self, name: str) -> Port:
        labels = {"interface": name}
        into, out = (
            self._line(name, ("interface_packets",), {**labels, "direction": direction}, _MPPS)
            for direction in ("rx", "tx")
        )
        keys = ("interface_dropped_packets", "interface_error_packets")
        return Port(name, into, out, self._line("drops", keys, labels))
