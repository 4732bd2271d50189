# SPDX-License-Identifier: Apache-2.0
"""Check who gets an answer of the page's server, and that bad requests get one sentence."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.live.conftest import TOKEN, served
from tests.unit.live.sample_recording import LOSS_S, SERIES, S, make, second
from wirespeed.live.server import LiveServer
from wirespeed.store.store import Store


@pytest.fixture(scope="module")
def server(stored: Path) -> Iterator[LiveServer]:
    with served(stored, "kpi-1") as running:
        yield running


def ask(
    server: LiveServer, path: str, *, method: str = "GET", body: str | None = None, **headers: str
) -> tuple[int, bytes, Any]:
    host, port = server.server_address[:2]
    link = http.client.HTTPConnection(str(host), port, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    link.request(method, path, body, named)
    answer = link.getresponse()
    found = answer.status, answer.read(), answer.headers
    link.close()
    return found


def test_server_page_and_its_files_allow_nothing_from_elsewhere(server: LiveServer) -> None:
    status, text, headers = ask(server, f"/{TOKEN}/")
    assert status == 200
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    for name in ("page.js", "page.css"):
        assert name.encode() in text
        assert ask(server, f"/{TOKEN}/{name}")[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/about", "/wrong/", "/wrong/about", f"/{TOKEN[:-1]}/", "//about"]
)
def test_server_without_the_token_refuses(server: LiveServer, path: str) -> None:
    status, text, _ = ask(server, path)
    assert status == 403
    assert text.startswith(b"The token is missing or wrong.")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example:80"},
        {"Host": ""},
        {"Host": "["},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_server_refuses_other_sites(server: LiveServer, headers: dict[str, str]) -> None:
    assert ask(server, f"/{TOKEN}/about", **headers)[0] == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9812", "[::1]:9812", "LOCALHOST"])
def test_server_takes_each_name_of_its_own(server: LiveServer, host: str) -> None:
    assert ask(server, f"/{TOKEN}/about", Host=host)[0] == 200


def test_server_at_another_loopback_address_takes_its_own(stored: Path) -> None:
    with served(stored, "kpi-1", address="127.0.0.2") as running:
        assert ask(running, f"/{TOKEN}/about")[0] == 200


def test_server_follows_a_link_from_another_site(server: LiveServer) -> None:
    opened = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert ask(server, f"/{TOKEN}/", **opened)[0] == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("nothing", 404),
        ("../about", 404),
        ("about?r=1", 404),
        ("about?r=x", 400),
        ("picture", 400),
        ("picture?begin=0&end=9", 400),
        ("picture?begin=9&end=0&pixels=10", 400),
        ("picture?begin=0&end=9&pixels=0", 400),
        (f"picture?begin=0&end={10**30}&pixels=10", 400),
        ("chunks?begin=0", 400),
        ("chunks?begin=0&end=9&source=-1", 400),
    ],
)
def test_server_bad_query_is_one_sentence(server: LiveServer, path: str, status: int) -> None:
    found, text, _ = ask(server, f"/{TOKEN}/{path}")
    assert found == status
    assert text.count(b"\n") == 1
    assert b"Traceback" not in text


@pytest.mark.parametrize("body", ["", "x", "[]", "{}", '{"ends": [null], "series": 1, "marks": 1}',
                                  '{"ends": [1e99], "series": 1, "marks": 1}'])  # fmt: skip
def test_server_bad_follow_is_one_sentence(server: LiveServer, body: str) -> None:
    status, text, _ = ask(server, f"/{TOKEN}/follow", method="POST", body=body)
    assert (status, text) == (400, b"the request says not what the page has\n")


def test_server_reads_no_endless_body(server: LiveServer) -> None:
    status, _, _ = ask(server, f"/{TOKEN}/follow", method="POST", Content_Length=str(1 << 40))
    assert status == 413


def test_about_has_marks_lanes_and_exact_base(server: LiveServer) -> None:
    about = json.loads(ask(server, f"/{TOKEN}/about")[1])
    assert int(about["base_ns"]) > 2**53
    assert [mark[1] for mark in about["marks"]] == ["point", "user", "fault", "gate"]
    assert about["marks"][0][0] == S
    assert len(about["series"]) == len(SERIES)
    assert "CPU busy" in [lane["name"] for lane in about["lanes"]]


def test_picture_of_a_day_shows_the_loss(server: LiveServer) -> None:
    _, body, _ = ask(server, f"/{TOKEN}/picture?begin=0&end={86_400 * S}&pixels=1000")
    head, _, numbers = body.partition(b"\n")
    head = json.loads(head)
    sizes = [
        (buckets + 1) * 8 + buckets * 2 * 4 * len(head["layouts"][layout])
        for _, _, layout, buckets in head["strips"]
    ]
    assert sum(sizes) == len(numbers)


def test_follow_waits_and_is_answered_by_the_next_read(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(str(path)) as store:
        writer = make(store, finished=False, until=3)
        with served(path, writer.id) as server:
            about = json.loads(ask(server, f"/{TOKEN}/about")[1])
            body = {"ends": about["ends"], "series": len(SERIES), "marks": len(about["marks"])}
            answers = []

            def follow() -> None:
                found = ask(server, f"/{TOKEN}/follow", method="POST", body=json.dumps(body))
                answers.append(json.loads(found[1]))

            asking = [threading.Thread(target=follow) for _ in range(2)]  # two viewers
            for each in asking:
                each.start()
            writer.add([], second(3), [])
            for each in asking:
                each.join()
    assert [len(each["chunks"]) for each in answers] == [3, 3]
    assert not answers[0]["finished"]


def test_follow_of_a_finished_recording_says_so(server: LiveServer) -> None:
    body = json.dumps({"ends": [10**15] * 3, "series": len(SERIES), "marks": 4})
    answer = json.loads(ask(server, f"/{TOKEN}/follow", method="POST", body=body)[1])
    assert answer == {"chunks": [], "finished": True}


def test_server_ends_although_a_browser_reads_nothing(stored: Path) -> None:
    with served(stored, "kpi-1") as server:
        host, port = server.server_address[:2]
        slow = socket.create_connection((str(host), port))
        query = f"/{TOKEN}/picture?begin=0&end={int(LOSS_S) * S}&pixels=4000"
        slow.sendall(f"GET {query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert ask(server, f"/{TOKEN}/about")[0] == 200
    slow.close()
