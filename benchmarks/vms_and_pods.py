# SPDX-License-Identifier: Apache-2.0
"""Count how many equal functions fit on the papers' hosts, as virtual machines and as pods.

python -m benchmarks.vms_and_pods [--write docs/explanation/vms-and-pods.md]

Both get the same CPUs, 1 GiB pages and VFs. The virtual machines are placed as Nova places them,
the pods as the kubelet admits them; the planner predicts both.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from wirespeed.host.file import HOST_FILE
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

_EXAMPLES = Path(__file__).parents[1] / "examples"
# More than fit on any of the hosts.
MANY = 64
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


@dataclass(frozen=True)
class Function:
    """A function of a paper; each has `ports` VFs of one port of the server."""

    paper: str
    example: str
    cpus: int
    pages_gib: int
    ports: int
    nic: str


FUNCTIONS = (
    Function("Intel 2015 (S1): BNG", "s1-bng", 8, 4, 2, "0000:08:00.0"),
    Function("Intel 2015 (S1): BNG, 7 CPUs", "s1-bng", 7, 4, 2, "0000:08:00.0"),
    Function("Intel 2017 (S2): router", "s2-chains", 4, 3, 1, "0000:04:00.0"),
    Function("Intel 2017 (S2): router, 3 CPUs", "s2-chains", 3, 3, 1, "0000:04:00.0"),
    Function("Dell and Intel 2021 (S3): tester", "s3-jumbo", 4, 8, 2, "0000:3b:00.0"),
    Function("Dell and Intel 2021 (S3): tester, 22 CPUs", "s3-jumbo", 22, 8, 2, "0000:3b:00.0"),
    Function("HP 2015 (S4): l3fwd", "s4-onp-pods", 4, 2, 2, "0000:04:00.0"),
    Function("HP 2015 (S4): l3fwd, 3 CPUs", "s4-onp-pods", 3, 2, 2, "0000:04:00.0"),
)

_NETWORK = """
name = "vms-and-pods"
[placement]
keep_running = false
[[network]]
name = "data"
physical_network = "physnet0"
[[nic]]
network = "data"
use = "sriov"
ports = ["{nic}"]
[[vnf]]
name = "function"
count = {many}
"""
_VM = """
vcpus = {cpus}
memory_mib = {mib}
page_size = "1GiB"
cpu_policy = "dedicated"
"""
_POD = """
kind = "pod"
[[vnf.container]]
name = "main"
cpus = {cpus}
memory_mib = 256
huge_pages_mib = {mib}
"""
_POOL = """
[[pool]]
name = "nfv"
topology_policy = "{policy}"
cpu_options = {options}
"""
STRICT = '["full-pcpus-only", "strict-cpu-reservation"]'
LOOSE = '["strict-cpu-reservation"]'


@dataclass(frozen=True)
class Count:
    """Functions that fit, and those of them with CPUs, pages and VFs on one NUMA node."""

    fit: int
    aligned: int
    refused: str = ""

    def __str__(self) -> str:
        return self.refused or f"{self.fit} ({self.aligned})"


def _host(function: Function) -> HostFacts:
    path = _EXAMPLES / function.example / "host.json"
    return HOST_FILE.parse(path.read_text(encoding="utf-8"), str(path))


def _plan(function: Function, kind: str, pool: str = "") -> Plan:
    values = {"nic": function.nic, "many": MANY, "cpus": function.cpus}
    ports = "".join(
        f'[[vnf.port]]\nname = "p{n}"\nnetwork = "data"\nkind = "sriov"\n'
        for n in range(function.ports)
    )
    text = (_NETWORK + kind).format(**values, mib=function.pages_gib * 1024) + ports + pool
    return plan_workload(parse_workload(text, function.paper), [_host(function)])


def virtual_machines(function: Function) -> Count:
    """Return how many virtual machines fit."""
    plan = _plan(function, _VM)
    (host,) = plan.hosts
    nic = next(n.node for n in host.nics)
    aligned = sum({node.node for node in guest.nodes} == {nic} for guest in host.guests)
    return Count(len(host.guests), aligned)


def pods(function: Function, policy: str, options: str) -> Count:
    """Return how many pods fit under a Topology Manager policy."""
    if options == STRICT and function.cpus % 2:
        return Count(0, 0, "refused: odd")
    plan = _plan(function, _POD, _POOL.format(policy=policy, options=options))
    (host,) = plan.hosts
    aligned = sum(all(len(c.nodes) == 1 for c in pod.containers) for pod in host.pods)
    return Count(len(host.pods), aligned)


def table() -> str:
    """Return the table in Markdown."""
    head = (
        "| function | VMs | pods, single-numa-node | pods, restricted | pods, best-effort | "
        "pods, best-effort, threads |"
    )
    lines = [head, "|---|---|---|---|---|---|"]
    for function in FUNCTIONS:
        counts = (
            virtual_machines(function),
            pods(function, "single-numa-node", STRICT),
            pods(function, "restricted", STRICT),
            pods(function, "best-effort", STRICT),
            pods(function, "best-effort", LOOSE),
        )
        size = f"{function.cpus} CPUs, {function.pages_gib} GiB, {function.ports} VFs"
        lines.append(f"| {function.paper} ({size}) | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table; with --write FILE also put it into a page."""
    made = table()
    print(made, end="")
    if sys.argv[1:2] == ["--write"]:
        page = Path(sys.argv[2])
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        page.write_text(before + BEGIN + "\n" + made + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
