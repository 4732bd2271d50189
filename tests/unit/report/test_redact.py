# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from wirespeed.cli.show.show import write_svg
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.csv_table import csv_text
from wirespeed.report.text.threshold_text import read_thresholds
from wirespeed.report.views.redact import Redactor
from wirespeed.report.views.thresholds import judge
from wirespeed.store.records import RunRecord

HOST, DOMAIN, GENERATOR = "kestrel7", "kestrel7.lab.example.org", "osprey3"
SECRETS = (
    HOST, "KESTREL7", "lab.example.org", GENERATOR, "52:54:00:ab:cd:ef", "203.0.113.9", "2001:db8",
    "alice@", "BOOT_IMAGE", "secret-uuid", "--token", "/home/alice/study.toml", "/opt/wsdp",
)  # fmt: skip


def planted(run: RunRecord) -> RunRecord:
    """Return the run with names of its owner in host, command and programs."""
    texts = (
        f"{DOMAIN} answers at 203.0.113.9 and [2001:db8::7]; {HOST.upper()}'s NIC is "
        f"52:54:00:ab:cd:ef, see ssh://alice@{HOST}:22/x and alice@{GENERATOR}."
    )
    point = run.points[0]
    assert point.plan is not None
    assert point.explanations
    explanation = replace(point.explanations[0], sentence=texts)
    bench = {
        **point.bench,
        "wsdp": {"version": "1.0", "command": ["/opt/wsdp", "--token", "x"], "config": texts},
        HOST: {"ports": [texts], "started": "'/opt/wsdp --token x' was started"},
    }
    hosts = tuple(replace(one, host=GENERATOR) for one in point.plan.hosts)
    kernel = replace(run.host.kernel, cmdline="BOOT_IMAGE=/vmlinuz root=UUID=secret-uuid quiet")
    first = replace(
        point,
        label=f"{point.label}, on {HOST}",
        bench=bench,
        plan=replace(point.plan, hosts=hosts),
        explanations=(explanation, *point.explanations[1:]),
    )
    roles = {"sut": HOST, "generator": GENERATOR}
    points = [
        replace(one, parameters={**one.parameters, "hosts": roles})
        for one in (first, *run.points[1:])
    ]
    return replace(
        run,
        title=f"Is {HOST} fast?",
        description=texts,
        command=("wirespeed", "run", "/home/alice/study.toml", "--set", f"hosts.sut={HOST}"),
        host=replace(run.host, host=DOMAIN, kernel=kernel),
        points=tuple(points),
        audits=tuple(replace(audit, host=DOMAIN) for audit in run.audits or ()),
        resolved={**run.resolved, "hosts": {"sut": DOMAIN}},
    )


def named_like_a_key(run: RunRecord, name: str) -> RunRecord:
    return replace(run, host=replace(run.host, host=name))


@pytest.mark.parametrize("name", ["sut", "traffic", "search", "points", "ndr"])
def test_redact_host_named_like_a_key_keeps_every_key(run: RunRecord, name: str) -> None:
    before = json.loads(json.dumps(document(run)))
    named = named_like_a_key(run, name)
    after = json.loads(json.dumps(document(Redactor(named).of(named))))
    assert list(keys_of(after)) == list(keys_of(before))


def keys_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_redact_svg_files_show_no_planted_text(run_with_secrets: RunRecord, tmp_path: Path) -> None:
    series = replace(run_with_secrets, points=run_with_secrets.points)
    plain, shown = tmp_path / "plain", tmp_path / "shown"
    plain.mkdir()
    shown.mkdir()
    told = "".join(p.read_text("utf-8") for p in write_svg(series, plain))
    assert HOST in told
    files = write_svg(Redactor(series).of(series), shown)
    assert len(files) > 3
    for path in files:
        text = path.read_text("utf-8").lower()
        assert [secret for secret in SECRETS if secret.lower() in text] == []


def test_redact_keeps_the_histogram_of_a_latency(run: RunRecord) -> None:
    point = run.points[0]
    assert point.result is not None
    at = point.result.latency[0]
    hdrh = "HISTFAAA/525400abcdef+kestrel7+203.0.113.9"
    latency = (replace(at, latency=replace(at.latency, hdrh=hdrh)),)
    named = replace(run, points=(replace(point, result=replace(point.result, latency=latency)),))
    shown = Redactor(named_like_a_key(named, HOST)).of(named)
    assert shown.points[0].result is not None
    assert shown.points[0].result.latency[0].latency.hdrh == hdrh


def outputs(run: RunRecord, redactor: Redactor) -> dict[str, str]:
    shown = redactor.of(run)
    judged = redactor.of(judge(run, read_thresholds(["*: ndr >= 1"])))
    return {
        "html": html_report(shown, judged),
        "json": json.dumps(document(shown, judged)),
        "csv": csv_text(shown),
    }


@pytest.fixture(scope="module")
def run_with_secrets(run: RunRecord) -> RunRecord:
    return planted(run)


@pytest.mark.parametrize("kind", ["html", "json", "csv"])
def test_redact_no_planted_text_is_left(run_with_secrets: RunRecord, kind: str) -> None:
    run = run_with_secrets
    plain = json.dumps(document(run)) + html_report(run) + csv_text(run)
    assert [secret for secret in SECRETS if secret not in plain] == []
    shown = outputs(run, Redactor(run))[kind].lower()
    assert [secret for secret in SECRETS if secret.lower() in shown] == []
    assert "host-1" in shown


def test_redact_labels_are_stable(run_with_secrets: RunRecord) -> None:
    run = run_with_secrets
    shown = Redactor(run).of(run)
    assert shown == Redactor(run).of(run)
    assert shown.host.host == "host-1"
    assert shown.command == ("command-1",)
    assert shown.points[0].parameters["hosts"] == {"sut": "host-1", "generator": "host-2"}
    assert shown.resolved["hosts"] == {"sut": "host-1"}
    assert shown.title == "Is host-1 fast?"
    assert shown.points[0].label.endswith(", on host-1")


def test_redact_keeps_figures_and_other_texts(run: RunRecord) -> None:
    shown = Redactor(run).of(run)
    for before, after in zip(run.points, shown.points, strict=True):
        assert (after.label, after.workload, after.state) == (
            before.label, before.workload, before.state)  # fmt: skip
        assert after.result == before.result
        assert after.trials == before.trials
    assert shown.versions == run.versions


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("at 10.0.0.1.", "at address-1."),
        ("10.0.0.1, 10.0.0.2, 10.0.0.1", "address-1, address-2, address-1"),
        ("fe80::1", "address-1"),
        ("[2001:db8::7]:443", "[address-1]:443"),
        ("52:54:00:AB:cd:ef", "address-1"),
        ("root@db.lab", "address-1"),
        ("v203.0.113.9", "vaddress-1"),
        ("by 525400abcdef", "by address-1"),
        ("5254.00ab.cdef", "address-1"),
        ("via corp.example.com.", "via address-1."),
        ("db.internal", "address-1"),
        ("www.heise.de", "address-1"),
        ("https://user@host/path", "https://address-1/path"),
        ("https://user:word@host:8443/path", "https://address-1/path"),
    ],
)
def test_redact_text_with_address(run: RunRecord, text: str, wanted: str) -> None:
    assert Redactor(run).text(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["0000:3b:00.0", "12:30:45", "2026-11-24T14:10:03+00:00", "6.1.0-28-amd64", "x: y", ":",
     "22.11.5", "std::max", "search.time_limit_s", "sut.vswitch.rx_queues", "report.html",
     "start.sh", "g525400abcdef0", "e.g. this", "Open vSwitch 3.1.0.1x"],
)  # fmt: skip
def test_redact_text_without_address_is_kept(run: RunRecord, text: str) -> None:
    assert Redactor(run).text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "tcp:203.0.113.9:6640", "inet addr:203.0.113.9", "addr:2001:db8::7",
        "mac:52:54:00:ab:cd:ef",
        f"{HOST}-mgmt", f"vm-{HOST}", f"{HOST}_nic", f"/srv/{HOST}-data", f"{HOST.upper()}-MGMT",
    ],
)  # fmt: skip
def test_redact_name_or_address_next_to_other_characters_is_replaced(
    run_with_secrets: RunRecord, text: str
) -> None:
    told = Redactor(run_with_secrets).text(text)
    assert [secret for secret in SECRETS if secret.lower() in told.lower()] == []
