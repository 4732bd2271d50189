# SPDX-License-Identifier: Apache-2.0
"""Run the papers' experiments on this host in their short forms, and predict the paper's hosts.

`wirespeed run STUDY --quick` runs for the four studies, one after the other. Printed are wall time,
points with a rate, points not run and why; then a sentence on each agreement, difference and open
question. Runs are kept in STORE (default out/papers.sqlite). An interrupted run continues, and a
complete one is not measured again until all four are complete. With --write DIRECTORY, or with
--write-only, which measures nothing, pages are made of the newest complete runs. Fails when a run
does not end, or a point has neither a rate nor a reason.

With --clock-ghz GHZ, the clock of this host's cores, the parameters of this host are fitted to all
these runs, and the paper's own server is predicted with them: the same sentences, and in the pages
a curve and a column of their own. Wanted: a correlation of 0.9 with S2 for vhost-user north-south
and east-west.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.shared.figures import show

from wirespeed.cli.verbs.predict_elsewhere import fitted_here, predicted_on
from wirespeed.experiment.effects import Verdict
from wirespeed.model.errors import BadInput
from wirespeed.predict.parameters import Parameters
from wirespeed.report.compare.effects import effect_words, factor_groups
from wirespeed.report.papers.beside import beside_published, counts
from wirespeed.report.papers.page import write_page
from wirespeed.report.papers.reading import MEASURED, PREDICTED, Reading
from wirespeed.report.text.sentence import point_sentence
from wirespeed.report.views.figures import point_figures
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import PointState, RunRecord
from wirespeed.store.store import Store
from wirespeed.study.load import load_study

STUDIES = ("s1-epa-gains", "s2-interfaces", "s3-jumbo-zpl", "s4-onp")
# The papers' servers, as far as they are recorded.
SERVERS = {
    "s1-epa-gains": "examples/s1-bng",
    "s2-interfaces": "examples/s2-chains",
    "s3-jumbo-zpl": "examples/s3-jumbo",
}
STORE = os.environ.get("STORE", "out/papers.sqlite")
# Limit for each on the reference machine, two shared CPUs.
ASKED_S = 30 * 60


def newest(study: str) -> RunRecord | None:
    """Return the newest short run of a study; None where there is none."""
    with Store(STORE) as store:
        for summary in list_runs(store):
            if summary.study == study:
                run = read_run(store, summary.id)
                if run.form.quick.on:
                    return run
    return None


def measured(study: str, again: bool) -> RunRecord | None:
    """Return the run, continued where it was interrupted."""
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
    """Print the run; return whether every point has a rate or a reason."""
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
    steps(name, run)
    compare(name, run, MEASURED)
    return all(point_figures(point).reason for point in without)


def steps(name: str, run: RunRecord) -> None:
    """Print the effect of each factor with its interval.

    Where the effect is not sure, print the number of repeats that would make it so.
    """
    effects = [effect for group in factor_groups(run) for effect in group.named]
    for effect in effects:
        print(f"{name} effect: {effect_words(effect)}")
    if effects:
        sure = sum(effect.effect.verdict is not Verdict.UNSURE for effect in effects)
        known = sum(effect.effect.low is not None for effect in effects)
        show(f"{name}_effects_with_an_interval", known, f"of-{len(effects)} asked {len(effects)}")
        show(f"{name}_effects_sure", sure, f"of-{len(effects)}")


def compare(name: str, run: RunRecord, reading: Reading) -> None:
    """Print how the run compares with its paper."""
    paper = beside_published(run, reading)
    assert paper is not None
    print(f"{name} {reading.where}, next to {paper.source.cite}: {counts(paper)}")
    for one in paper.said:
        print(f"{name} {reading.where}, {one.agreement}: {one.text}")
    for row, why in paper.without.items():
        print(f"{name} no point: {row}: {why}.")


def predicted(study: str, parameters: Parameters | None) -> RunRecord | None:
    """Return the study as predicted for the paper's server; None where either is unknown."""
    if parameters is None or study not in SERVERS:
        return None
    run, _, _ = predicted_on(load_study(study, quick=True), SERVERS[study], parameters)
    compare(study.replace("-", "_"), run, PREDICTED)
    return run


def parameters_of_this_host(clock_ghz: float | None) -> Parameters | None:
    """Return parameters fitted to the runs in STORE; print why, and return None, if impossible."""
    try:
        return fitted_here(STORE, clock_ghz)
    except BadInput as error:
        print(f"predicted: nothing; {error.what}")
        return None


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.papers")
    parser.add_argument("--write", metavar="DIRECTORY")
    parser.add_argument("--write-only", metavar="DIRECTORY")
    parser.add_argument("--clock-ghz", type=float, metavar="GHZ")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    asked = options(arguments)
    Path(STORE).parent.mkdir(parents=True, exist_ok=True)
    runs = [newest(study) for study in STUDIES]
    again = all(run is not None and run.complete for run in runs)
    if not asked.write_only:
        runs = [measured(study, again) for study in STUDIES]
    parameters = parameters_of_this_host(asked.clock_ghz)
    failed = False
    for study, run in zip(STUDIES, runs, strict=True):
        if run is None:
            print(f"{study} has no run")
            failed = True
            continue
        failed |= not tell(study, run) or not run.complete
        there = predicted(study, parameters)
        if (directory := asked.write or asked.write_only) and run.complete:
            write_page(run, Path(directory), there)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
