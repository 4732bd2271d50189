# SPDX-License-Identifier: Apache-2.0
"""Check alert rules, the dashboard's queries, and backfilling, with a real Prometheus."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wirespeed.kpi.collectors.registry import metrics
from wirespeed.kpi.openmetrics import Column, family

MONITORING = Path(__file__).parents[3] / "monitoring"
# Series that the exporter makes itself, or that the rules make.
MADE = {
    "wirespeed_collector_up", "wirespeed_collector_read_seconds", "wirespeed_plan_differences",
}  # fmt: skip
NAME = re.compile(r"\bwirespeed_\w+")


def promtool(*words: str) -> str:
    done = subprocess.run(
        ["promtool", *words], cwd=MONITORING, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dashboard_queries() -> list[str]:
    board = json.loads((MONITORING / "grafana" / "dashboard.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def known() -> set[str]:
    return MADE | {metric.prometheus for metric in metrics().values()}


def test_eight_alerts_fire_and_stay_silent() -> None:
    promtool("check", "rules", "alerts.yml")
    promtool("check", "config", "prometheus.yml")
    promtool("test", "rules", "alerts_test.yml")
    rules = (MONITORING / "alerts.yml").read_text()
    alerts = re.findall(r"- alert: (\w+)", rules)
    assert len(alerts) == 8
    tests = (MONITORING / "alerts_test.yml").read_text()
    for alert in alerts:
        assert f"name: {alert} fires\n" in tests
        assert f"name: {alert} stays silent\n" in tests


def test_alerts_and_dashboard_name_series_that_exist() -> None:
    used = NAME.findall((MONITORING / "alerts.yml").read_text())
    used += [name for query in dashboard_queries() for name in NAME.findall(query)]
    assert set(used) <= known()


def test_dashboard_queries_are_valid(tmp_path: Path) -> None:
    queries = [
        query.replace("$__rate_interval", "1m").replace("$instance", ".*")
        for query in dashboard_queries()
    ]
    rules = [{"record": f"panel:{n}", "expr": query} for n, query in enumerate(queries)]
    # JSON is YAML.
    file = tmp_path / "panels.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", str(file))


def blocks(lines: Iterator[str], directory: Path) -> str:
    text = directory / "kpi.om"
    text.write_text("".join([*lines, "# EOF\n"]))
    return promtool("tsdb", "create-blocks-from", "openmetrics", str(text), str(directory / "tsdb"))


@contextmanager
def prometheus(directory: Path) -> Iterator[str]:
    """Run a Prometheus on the blocks; yield its address once it is ready."""
    config = directory / "prometheus.yml"
    config.write_text("global: {scrape_interval: 1h}\n")
    words = [
        "prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/tsdb",
        "--web.listen-address=127.0.0.1:0", "--storage.tsdb.retention.time=100y",
    ]  # fmt: skip
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield _ready(process)
        finally:
            process.terminate()


def _ready(process: subprocess.Popen[str]) -> str:
    """Return the address once it answers; the two lines of its log come in either order."""
    assert process.stderr is not None
    said, address, ready = [], "", False
    for line in process.stderr:
        said.append(line)
        if listening := re.search(r'Listening on" address=(\S+)', line):
            address = listening[1]
        ready = ready or "Server is ready to receive web requests" in line
        if ready and address:
            return address
    raise AssertionError("".join(said))


def asked(address: str, query: str, at_s: float) -> list[Any]:
    words = urllib.parse.urlencode({"query": query, "time": at_s})
    with urllib.request.urlopen(f"http://{address}/api/v1/query?{words}") as answer:
        found = json.load(answer)
    result: list[Any] = found["data"]["result"]
    return result


def test_backfilled_prometheus_answers_the_recorded_values(tmp_path: Path) -> None:
    metric = metrics()["cpu_user_seconds"]
    begin_s = 1_700_000_000
    moments = [begin_s * 10**9 + n * 100_000_000 + 123_456 for n in range(600)]
    ticks = [10_000_000 * n for n in range(600)]
    hostile = (("cpu", 'a"b\\c\nd'),)
    columns = [Column((("cpu", "0"),), moments, ticks), Column(hostile, moments, ticks)]
    blocks(family(metric, columns), tmp_path)
    with prometheus(tmp_path) as address:
        for n in (0, 7, 599):
            [plain] = asked(address, f'{metric.prometheus}{{cpu="0"}}', begin_s + n / 10)
            assert float(plain["value"][1]) == n / 100
        both = asked(address, metric.prometheus, begin_s + 50)
    assert {each["metric"]["cpu"] for each in both} == {"0", 'a"b\\c\nd'}
