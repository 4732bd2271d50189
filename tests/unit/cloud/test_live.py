# SPDX-License-Identifier: Apache-2.0
"""Test that each failure to read a cloud is one clear message, without a credential in it."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cloud.fake_services import PASSWORD, Services, served
from wirespeed.cloud import live
from wirespeed.cloud.api import CloudUnreadable, Gone
from wirespeed.cloud.collect import collect
from wirespeed.cloud.live import LiveApi, open_cloud
from wirespeed.model.errors import BadInput
from wirespeed.model.host.installed import install_extra

pytest.importorskip("openstack")


@pytest.fixture
def services() -> Iterator[Services]:
    with served() as found:
        yield found


@pytest.fixture(autouse=True)
def _own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the tester's clouds.yaml and OS_* variables."""
    for name in ("OS_CLOUD", "OS_AUTH_URL", "OS_USERNAME", "OS_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    monkeypatch.chdir(tmp_path)


def configured(tmp_path: Path, url: str, password: str = PASSWORD, **more: str) -> LiveApi:
    lines = [f"      {key}: {value}" for key, value in more.items()]
    text = f"""
clouds:
  lab:
    region_name: one
    auth:
      auth_url: {url}
      username: operator
      password: {password}
      project_name: admin
      user_domain_name: Default
      project_domain_name: Default
"""
    (tmp_path / "clouds.yaml").write_text("\n".join([text.rstrip(), *lines]) + "\n")
    return open_cloud("lab")


def lab(tmp_path: Path, services: Services) -> LiveApi:
    return configured(tmp_path, f"{services.url}/identity/v3")


def test_only_named_keys_are_read_over_all_pages(tmp_path: Path, services: Services) -> None:
    following = {"rel": "next", "href": "http://elsewhere/flavors/detail?limit=2&marker=b"}
    services.answers["/compute/flavors/detail"] = [
        (200, {"flavors": [{"name": "a", "secret": 1}, {"name": "b"}],
               "flavors_links": [following]}),
        (200, {"flavors": [{"name": "c"}]}),
    ]  # fmt: skip
    found = lab(tmp_path, services).all("compute", "/flavors/detail?limit=2", "flavors", ("name",))
    assert found == [{"name": "a"}, {"name": "b"}, {"name": "c"}]
    assert services.asked == [
        ("GET", "/compute/flavors/detail?limit=2", "compute 2.87"),
        ("GET", "/compute/flavors/detail?limit=2&marker=b", "compute 2.87"),
    ]


def test_glance_names_its_next_page(tmp_path: Path, services: Services) -> None:
    services.answers["/image/images"] = [
        (200, {"images": [{"name": "a"}], "next": "/v2/images?marker=a"}),
        (200, {"images": [{"name": "b", "hw_cpu_policy": "dedicated"}]}),
    ]
    found = lab(tmp_path, services).all("image", "/images", "images", ("name", "hw_*"))
    assert found == [{"name": "a"}, {"name": "b", "hw_cpu_policy": "dedicated"}]


def test_a_page_that_names_itself_ends(tmp_path: Path, services: Services) -> None:
    page = {"images": [{"name": "a"}], "next": "/v2/images?marker=a"}
    services.answers["/image/images"] = (200, page)
    found = lab(tmp_path, services).all("image", "/images", "images", ("name",))
    assert len(found) == 2


def refused(api: LiveApi, service: str = "compute") -> CloudUnreadable:
    with pytest.raises(CloudUnreadable) as failure:
        api.one(service, "/os-thing", ())
    assert PASSWORD not in str(failure.value)
    assert "token-text" not in str(failure.value)
    assert "\n" not in failure.value.what
    assert failure.value.next_step
    return failure.value


def test_wrong_credentials(tmp_path: Path, services: Services) -> None:
    told = refused(configured(tmp_path, f"{services.url}/identity/v3", "wrong-battery"))
    assert "Keystone refuses the credentials (401)" in told.what
    assert "wrong-battery" not in str(told)


def test_no_administrator(tmp_path: Path, services: Services) -> None:
    services.answers["/compute/os-thing"] = (403, {"forbidden": {}})
    told = refused(lab(tmp_path, services))
    assert "compute forbids GET /os-thing (403)" in told.what
    assert "administrator" in told.next_step


def test_keystone_unreachable(tmp_path: Path, services: Services) -> None:
    told = refused(configured(tmp_path, "http://user:pw@127.0.0.1:1/identity/v3"))
    assert "cannot be reached" in told.what
    assert "127.0.0.1:1" in told.what
    assert "user:pw" not in told.what
    del services


def test_service_unreachable(tmp_path: Path, services: Services) -> None:
    api = lab(tmp_path, services)
    services.catalogue = lambda: [  # type: ignore[method-assign]
        {"type": "compute", "name": "nova", "endpoints": [
            {"interface": "public", "region_id": "one", "region": "one", "id": "e",
             "url": "http://127.0.0.1:1/v2.1"}]}
    ]  # fmt: skip
    assert "compute cannot be reached" in refused(api).what


def test_no_endpoint(tmp_path: Path, services: Services) -> None:
    services.in_catalogue = ("compute",)
    told = refused(lab(tmp_path, services), "placement")
    assert "catalogue has no endpoint of placement" in told.what
    assert "region_name" in told.next_step


def test_too_old(tmp_path: Path, services: Services) -> None:
    services.microversion = "2.60"
    told = refused(lab(tmp_path, services))
    assert "compute knows microversions up to 2.60; 2.78 is needed" in told.what
    assert "Train" in told.next_step


@pytest.mark.parametrize(
    ("answer", "told"),
    [((503, {}), "with 503"), ((200, "<html>"), "no JSON object"), ((200, "[1]"), "no JSON")],
)
def test_a_service_that_fails(tmp_path: Path, services: Services, answer: Any, told: str) -> None:
    services.answers["/compute/os-thing"] = answer
    assert told in refused(lab(tmp_path, services)).what


def test_a_404_is_gone_and_a_missing_service_unreadable(tmp_path: Path, services: Services) -> None:
    with pytest.raises(Gone):
        lab(tmp_path, services).one("compute", "/servers/1/topology", ())
    with pytest.raises(CloudUnreadable, match=r"network /networks does not exist \(404\)"):
        collect(lab(tmp_path, services))


def test_an_incomplete_cloud(tmp_path: Path) -> None:
    (tmp_path / "clouds.yaml").write_text("clouds:\n  lab:\n    auth: {username: u}\n")
    with pytest.raises((BadInput, CloudUnreadable)) as failure:
        open_cloud("lab").one("compute", "/os-thing", ())
    assert "auth_url" in failure.value.what


@pytest.mark.parametrize("text", ["clouds:\n  other: {}\n", "clouds: [", ""])
def test_a_cloud_that_is_not_in_clouds_yaml(tmp_path: Path, text: str) -> None:
    (tmp_path / "clouds.yaml").write_text(text)
    with pytest.raises(BadInput, match="'lab' cannot be used") as failure:
        open_cloud("lab")
    assert "clouds.yaml" in failure.value.next_step


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("clouds.yaml", b"clouds:\n  lab: [\n", "clouds.yaml is not YAML: line 3, column 1"),
        ("clouds.yaml", b"\xff\xfe\x00", "clouds.yaml is not UTF-8 text"),
        ("clouds.json", b'{"clouds"', "clouds.json is not JSON: line 1, column 10"),
        ("secure.yaml", b"clouds: {lab: {auth: {password: '", "secure.yaml is not YAML: line 1"),
    ],
)
def test_a_file_that_openstacksdk_skips_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, why: str
) -> None:
    kind = "SECURE" if name.startswith("secure") else "CONFIG"
    monkeypatch.setenv(f"OS_CLIENT_{kind}_FILE", str(tmp_path / name))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match="'lab' cannot be used: Cloud lab was not found") as failure:
        open_cloud("lab")
    assert why in failure.value.what


def test_a_folder_in_the_place_of_clouds_yaml_is_reported(tmp_path: Path) -> None:
    (tmp_path / "clouds.yaml").mkdir()
    with pytest.raises(BadInput, match=r"clouds\.yaml cannot be read: Is a directory"):
        open_cloud("lab")


@pytest.mark.parametrize("auth", ["5", "text", "[a, b]"])
def test_a_cloud_of_the_wrong_shape_is_reported(tmp_path: Path, auth: str) -> None:
    (tmp_path / "clouds.yaml").write_text(f"clouds:\n  lab:\n    auth: {auth}\n")
    with pytest.raises(BadInput, match="'lab' cannot be used: its entry") as failure:
        open_cloud("lab")
    assert "mapping" in failure.value.next_step


def test_keystoneauth_warnings_do_not_repeat_the_error(tmp_path: Path) -> None:
    (tmp_path / "clouds.yaml").write_text(
        "clouds:\n  lab:\n    auth: {auth_url: 'http://127.0.0.1:1/v3', username: u, "
        "password: p, project_name: p}\n"
    )
    argv = [sys.executable, "-m", "wirespeed.cli.main", "inspect", "--openstack", "lab"]
    ended = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    told, next_step = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert told.startswith("wirespeed: cloud lab: ")
    assert next_step.startswith("Check the address")


def test_without_openstacksdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match="openstacksdk is not installed") as failure:
        open_cloud("lab")
    assert failure.value.next_step == f"Install it: {install_extra('openstack')}"


def test_nothing_secret_is_logged(
    tmp_path: Path, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    services.answers["/compute/os-thing"] = (200, {})
    lab(tmp_path, services).one("compute", "/os-thing", ())
    assert PASSWORD not in caplog.text
    assert "token-text" not in caplog.text
