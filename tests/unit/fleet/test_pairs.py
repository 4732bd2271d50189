# SPDX-License-Identifier: Apache-2.0
"""Kill two controllers at random: no resource has two users, and no test is lost.

PostgreSQL itself is the witness: a trigger that fires at each commit writes every change of a lease
into its log.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.support.postgres import Cluster, cluster
from tests.unit.fleet.controller import OVERLAPS
from wirespeed.store.pairs import PairRecord, PairState, PairTest, add_pairs, list_pairs
from wirespeed.store.read import list_runs
from wirespeed.store.store import Store

ROOT = Path(__file__).parents[3]
LEASE_S = 1.5
# The long form takes minutes.
SETTLED_S = 1800
WITNESS = """
CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE LOG 'lease|%|%|%|%|%|%|%', NEW.resource, OLD.token, coalesce(OLD.holder, ''),
    coalesce(extract(epoch FROM OLD.expires_at), 0), NEW.token, coalesce(NEW.holder, ''),
    coalesce(extract(epoch FROM NEW.expires_at), 0);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER witness AFTER UPDATE ON leases
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION witness();
"""


@pytest.fixture
def postgresql() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


def pair_tests(count: int, seed: int) -> list[PairTest]:
    """Return pairs of six hosts over two links, some with a generator: most exclude each other."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        ends = chance.sample(range(6), 2)
        resources = [f"host:{end}" for end in ends] + [f"link:{chance.randrange(2)}"]
        resources += ["generator:g"] if chance.random() < 0.3 else []
        made.append(PairTest(f"pair-{number:02}", "wire", "", tuple(sorted(resources))))
    return made


@dataclass
class Controllers:
    """Two controllers; a killed one gets a successor with another name."""

    url: str
    folder: Path
    started: int = 0

    def start(self) -> subprocess.Popen[bytes]:
        self.started += 1
        return subprocess.Popen(
            [sys.executable, "-m", "tests.unit.fleet.controller", self.url,
             f"controller-{self.started}", str(self.folder), str(LEASE_S)],
            cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": f"{ROOT}/src"},
        )  # fmt: skip

    def kill_at_random(self, kills: int, seed: int) -> None:
        """Kill at random until every test is settled; stop some controllers past their lease."""
        chance = random.Random(seed)
        running = [self.start(), self.start()]
        end = time.monotonic() + SETTLED_S
        try:
            while any(process.poll() is None for process in running):
                assert time.monotonic() < end, "a test is never settled"
                time.sleep(chance.uniform(0.2, 1.2))
                which = chance.randrange(2)
                if kills == 0 or running[which].poll() is not None:
                    continue
                kills -= 1
                if chance.random() < 0.3:
                    running[which].send_signal(signal.SIGSTOP)
                    time.sleep(LEASE_S * 1.5)
                    running[which].send_signal(signal.SIGCONT)
                else:
                    running[which].kill()
                    running[which].wait()
                    running[which] = self.start()
        finally:
            for process in running:
                process.kill()
                process.wait()
        assert kills == 0, "the tests were done before all kills: make them longer"


def check_log(log: str) -> int:
    """Return the number of leases. Raises AssertionError where two held a resource at once.

    Each change must begin where the one before it ended, so that the log lacks none.
    """
    last: dict[str, tuple[int, str, float]] = {}
    grants = 0
    for line in re.findall(r"LOG:  lease\|(.*)", log):
        resource, *fields = line.split("|")
        before = (int(fields[0]), fields[1], float(fields[2]))
        after = (int(fields[3]), fields[4], float(fields[5]))
        assert before == last.get(resource, (0, "", 0.0)), line
        if after[0] != before[0]:
            grants += 1
            granted_at = after[2] - LEASE_S
            assert after[0] > before[0], line
            assert not before[1] or before[2] <= granted_at + 1e-3, f"overlap: {line}"
        elif after[1]:
            assert (after[0], after[1]) == before[:2], line
        last[resource] = after
    return grants


def measured(postgresql: Cluster, folder: Path, count: int, kills: int) -> list[PairRecord]:
    with Store(postgresql.url) as store:
        with store.begin() as connection:
            connection.execute(text(WITNESS))
        assert add_pairs(store, pair_tests(count, seed=18)) == count
        assert add_pairs(store, pair_tests(count, seed=18)) == 0
        Controllers(postgresql.url, folder).kill_at_random(kills, seed=18)
        found = list(list_pairs(store))
        runs = {run.id for run in list_runs(store)}
    assert {one.state for one in found} == {PairState.COMPLETE}, found
    assert len({one.run_id for one in found}) == count
    assert {one.run_id for one in found} <= runs
    return found


@pytest.mark.parametrize(
    ("count", "kills"),
    [(6, 2), pytest.param(20, 12, marks=pytest.mark.fleet)],
)
def test_no_overlap_and_nothing_lost(
    postgresql: Cluster, tmp_path: Path, count: int, kills: int
) -> None:
    found = measured(postgresql, tmp_path, count, kills)
    assert not (tmp_path / OVERLAPS).exists()
    log = (postgresql.directory / "log").read_text()
    needed = sum(len(one.test.resources) for one in found)
    assert check_log(log) >= needed
    for target in tmp_path.iterdir():
        tokens = [int(line.split()[0]) for line in (target / "journal").read_text().splitlines()]
        assert tokens == sorted(tokens), f"{target.name} was changed with an older token"


def test_the_witness_sees_an_overlap() -> None:
    """Check the log of an overlap, and one without a change."""
    grant = "LOG:  lease|host:1|0||0|1|a|101.5\n"
    assert check_log(grant + "LOG:  lease|host:1|1|a|101.5|2|b|103.1\n") == 2
    with pytest.raises(AssertionError, match="overlap"):
        check_log(grant + "LOG:  lease|host:1|1|a|101.5|2|b|102.0\n")
    with pytest.raises(AssertionError):
        check_log("LOG:  lease|host:1|1|a|101.5|2|b|103.1\n")
