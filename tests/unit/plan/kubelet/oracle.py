# SPDX-License-Identifier: Apache-2.0
"""Ask the kubelet's own code, and make a case that it answers otherwise as small as can be."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from tests.unit.plan.kubelet.case import Case, Document, line

# Of two resources that are both short, the kubelet names the one that Go's map yields first.
_SHORT = "requested number of devices unavailable"
# Exit status after a case that never ends (kubernetes/oracle/main.go).
HUNG_STATUS = 3


def ask(oracle: Path, cases: Sequence[Case]) -> list[Document]:
    """Return the answers; the program is started again after each case that hangs."""
    answers: list[Document] = []
    while len(answers) < len(cases):
        asked = "\n".join(line(case) for case in cases[len(answers) :])
        done = subprocess.run([oracle], input=asked, capture_output=True, text=True, check=False)
        assert done.returncode in (0, HUNG_STATUS), done.stderr[-2000:]
        found = [cast(Document, json.loads(text)) for text in done.stdout.splitlines()]
        assert found, done.stderr[-2000:]
        answers += found
    return answers


def same(ours: Document, theirs: Document) -> bool:
    """Return whether the answers are equal, but for which of two short resources is named."""
    return _comparable(ours) == _comparable(theirs)


def _comparable(answer: Document) -> Document:
    pods = [
        pod | {"message": _SHORT} if _SHORT in pod.get("message", "") else pod
        for pod in answer.get("pods", ())
    ]
    return answer | {"pods": pods}


def smallest(case: Case, differs: Callable[[Case], bool]) -> Case:
    """Return a case that still differs, and of which nothing can be omitted."""
    while True:
        smaller = next((c for c in _smaller(case) if differs(c)), None)
        if smaller is None:
            return case
        case = smaller


def _smaller(case: Case) -> Iterator[Case]:
    for number in range(len(case.pods)):
        yield replace(case, pods=case.pods[:number] + case.pods[number + 1 :])
    for number, pod in enumerate(case.pods):
        for left in range(len(pod.containers)):
            containers = pod.containers[:left] + pod.containers[left + 1 :]
            if containers:
                pods = list(case.pods)
                pods[number] = replace(pod, containers=containers)
                yield replace(case, pods=tuple(pods))
        for place, container in enumerate(pod.containers):
            for less in (
                replace(container, huge_pages=()),
                replace(container, devices=()),
                replace(container, cpu_m=1000, cpu_limit_m=1000),
            ):
                if less != container:
                    pods = list(case.pods)
                    containers = (*pod.containers[:place], less, *pod.containers[place + 1 :])
                    pods[number] = replace(pod, containers=containers)
                    yield replace(case, pods=tuple(pods))
    for option in case.settings.cpu_options:
        fewer = case.settings.cpu_options - {option}
        yield replace(case, settings=replace(case.settings, cpu_options=fewer))
    if case.settings.static_memory:
        yield replace(case, settings=replace(case.settings, static_memory=False))
    for name in case.plugins:
        yield replace(case, plugins={k: v for k, v in case.plugins.items() if k != name})
