# SPDX-License-Identifier: Apache-2.0
"""How do the papers' experiments come out on this host, in their short forms?

`wirespeed run STUDY --quick` for the four studies, one after the other: wall time, points with a
figure, points not run and why; then what agrees with the paper, what differs and what is open, a
sentence each. Runs are kept in STORE (default out/papers.sqlite): a run that was cut goes on, and
one that is complete is not measured again until all four are. With --write DIRECTORY, or with
--write-only, which measures nothing, pages are made of the newest runs that are complete. Fails
when a run does not end, or a point has neither a figure nor a reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.figures import show

from wirespeed.report.figures import point_figures
from wirespeed.report.papers.beside import beside_published, counts
from wirespeed.report.papers.page import write_page
from wirespeed.report.sentence import point_sentence
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import PointState, RunRecord
from wirespeed.store.store import Store

STUDIES = ("s1-epa-gains", "s2-interfaces", "s3-jumbo-zpl", "s4-onp")
STORE = os.environ.get("STORE", "out/papers.sqlite")
# What each may take on the reference machine, two shared CPUs.
ASKED_S = 30 * 60


def newest(study: str) -> RunRecord | None:
    """The newest short run of a study; None where there is none."""
    with Store(STORE) as store:
        for summary in list_runs(store):
            if summary.study == study:
                run = read_run(store, summary.id)
                if run.form.quick.on:
                    return run
    return None


def measured(study: str, again: bool) -> RunRecord | None:
    """The run, gone on with where it was cut."""
    found, what = newest(study), [study, "--quick"]
    if found is not None and not found.complete:
        what = [found.id, "--resume"]
    elif found is not None and not again:
        return found
    command = [sys.executable, "-m", "wirespeed.cli.main", "run", *what, "--store", STORE]
    began = time.monotonic()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    rest = " (the rest of a run that was cut)" if "--resume" in what else ""
    show(f"{study.replace('-', '_')}_wall", time.monotonic() - began, f"s{rest} asked {ASKED_S}")
    return newest(study)


def tell(study: str, run: RunRecord) -> bool:
    """Print the run; whether every point has a figure or a reason."""
    name = study.replace("-", "_")
    have = [point for point in run.points if point_figures(point).best is not None]
    show(f"{name}_points_with_a_figure", len(have), f"of-{len(run.points)}")
    for grade, count in sorted(Counter(str(p.result.grade) for p in have if p.result).items()):
        show(f"{name}_points_of_grade_{grade}", count, f"of-{len(have)}")
    not_run = Counter(str(p.error) for p in run.points if p.state is PointState.NOT_RUN)
    for why, count in not_run.items():
        show(f"{name}_points_not_run", count, f"of-{len(run.points)}: {why}")
    without = [p for p in run.points if p not in have and p.state is not PointState.NOT_RUN]
    for point in without:
        print(f"{name} {point.label}: {point_sentence(point)}")
    paper = beside_published(run)
    assert paper is not None
    print(f"{name} beside {paper.source.cite}: {counts(paper)}")
    for one in paper.said:
        print(f"{name} {one.agreement}: {one.text}")
    for row, why in paper.without.items():
        print(f"{name} no point: {row}: {why}.")
    return all(point_figures(point).reason for point in without)


def main(arguments: list[str]) -> int:
    Path(STORE).parent.mkdir(parents=True, exist_ok=True)
    only = "--write-only" in arguments
    runs = [newest(study) for study in STUDIES]
    again = all(run is not None and run.complete for run in runs)
    failed = False
    for study in STUDIES:
        run = newest(study) if only else measured(study, again)
        if run is None:
            print(f"{study} has no run")
            failed = True
            continue
        failed |= not tell(study, run) or not run.complete
        if arguments[1:] and run.complete:
            write_page(run, Path(arguments[1]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
