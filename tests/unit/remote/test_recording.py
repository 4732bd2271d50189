# SPDX-License-Identifier: Apache-2.0
"""Test that a recorded host can be sent, that damage is rejected, and that no path escapes."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from tests.hosts.fake_runner import FakeRunner
from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import NotRecorded, ProgramMissing, RemoteError
from wirespeed.remote.recorded import RecordedRunner
from wirespeed.remote.recorder import Recorder, without_secrets
from wirespeed.remote.recording import Recording, load, make_folder, save

LINE, TEXT = "/sys/one", "/proc/many"


def recorded(tmp_path: Path) -> Path:
    """Record a one-line file, a longer one, an absent and a denied one, and a command."""
    fake = FakeRunner(
        name="box",
        files={
            LINE: "1\n",
            TEXT: "a\nb\n",
            "/sys/empty": "",
            "/root/secret": PermissionError("/root/secret"),
            "/sys/bad": OSError("EINVAL"),
            "/sys/dir/x/unread": "",
        },
    )
    fake.answer(["tool", "-v"], "v1\n")
    recorder = Recorder(fake)
    recorder.read_many([LINE, TEXT, "/sys/empty", "/none", "/root/secret", "/sys/bad"])
    recorder.glob("/sys/dir/*", "/sys/none*")
    recorder.run(["tool", "-v"], check=False)
    with pytest.raises(ProgramMissing):
        recorder.run(["other"], check=False)
    folder = tmp_path / "box"
    save(recorder.recording, folder)
    return folder


def test_a_recording_answers_as_the_host_did(tmp_path: Path) -> None:
    host = RecordedRunner.open(str(recorded(tmp_path)))
    assert (host.name, host.read(LINE), host.read(TEXT)) == ("box", "1\n", "a\nb\n")
    assert host.read("/sys/empty") == ""
    assert host.glob("/sys/dir/*") == ("/sys/dir/x",)
    assert host.glob("/sys/none*") == ()
    assert host.run(["tool", "-v"]).stdout == "v1\n"
    with pytest.raises(FileNotFoundError):
        host.read("/none")
    with pytest.raises(PermissionError):
        host.read("/root/secret")
    with pytest.raises(OSError, match="/sys/bad"):
        host.read("/sys/bad")
    with pytest.raises(ProgramMissing):
        host.run(["other"])


def test_a_read_outside_the_recording_is_an_error(tmp_path: Path) -> None:
    host = RecordedRunner.open(str(recorded(tmp_path)))
    with pytest.raises(NotRecorded):
        host.read("/etc/passwd")
    with pytest.raises(NotRecorded):
        host.glob("/sys/*")
    with pytest.raises(RemoteError, match="not in the recording"):
        host.run(["tool", "-x"])


def test_a_recording_cannot_be_changed_or_started(tmp_path: Path) -> None:
    host = RecordedRunner.open(str(recorded(tmp_path)))
    for action in (
        lambda: host.write(LINE, "2"),
        lambda: host.spawn(["x"], log="/l"),
        lambda: host.connect("/s", socket.SOCK_STREAM),
    ):
        with pytest.raises(RemoteError, match="is a recording"):
            action()


def test_a_folder_that_is_not_empty_is_not_overwritten(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    with pytest.raises(BadInput, match="not empty"):
        save(Recorder(FakeRunner()).recording, folder)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="is a file"):
        make_folder(tmp_path / "file")
    with pytest.raises(BadInput, match="cannot be made: Not a directory"):
        make_folder(tmp_path / "file" / "below")


def test_every_missing_and_truncated_file_is_named(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    (folder / "lines.txt").write_text("/sys/one\t")
    (folder / "files/proc/many").write_text("a\n")
    (folder / "commands/01-tool.txt").unlink()
    with pytest.raises(BadInput) as caught:
        RecordedRunner.open(str(folder))
    for fault in (
        "lines.txt: 9 bytes, should be 11",
        "files/proc/many: 2 bytes, should be 4",
        "commands/01-tool.txt: No such file",
    ):
        assert fault in caught.value.what


@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"schema": "wirespeed.recording/9"}'])
def test_a_manifest_of_another_kind_is_refused(tmp_path: Path, manifest: str) -> None:
    folder = recorded(tmp_path)
    (folder / "recording.json").write_text(manifest)
    with pytest.raises(BadInput, match=r"recording\.json"):
        RecordedRunner.open(str(folder))


def test_a_cut_manifest_is_reported_in_one_line(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    manifest = folder / "recording.json"
    manifest.write_text(manifest.read_text()[:30])
    with pytest.raises(BadInput) as caught:
        RecordedRunner.open(str(folder))
    assert "its text: is not JSON: " in caught.value.what
    assert len(caught.value.what.splitlines()) == 2


def test_unknown_keys_in_the_manifest_are_refused(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    manifest = json.loads((folder / "recording.json").read_text())
    (folder / "recording.json").write_text(json.dumps({**manifest, "colour": "red"}))
    with pytest.raises(BadInput, match='colour = "red": unknown key'):
        RecordedRunner.open(str(folder))


def test_a_folder_without_manifest_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a recorded host"):
        RecordedRunner.open(str(tmp_path))


@pytest.mark.parametrize("path", ["/../../secret", "/proc/../../../secret", "/a\0b"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    folder = recorded(tmp_path)
    (tmp_path / "secret").write_text("x")
    manifest = json.loads((folder / "recording.json").read_text())
    manifest["files"][path] = 1
    (folder / "recording.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="leads outside the folder"):
        RecordedRunner.open(str(folder))


def test_a_command_output_outside_the_folder_is_refused(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    manifest = json.loads((folder / "recording.json").read_text())
    manifest["commands"][0]["stdout"] = "../../../etc/hostname"
    (folder / "recording.json").write_text(json.dumps(manifest))
    with pytest.raises(BadInput, match="leads outside the folder"):
        RecordedRunner.open(str(folder))


def test_a_symbolic_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = recorded(tmp_path)
    (tmp_path / "secret").write_text("a\nb\n")
    (folder / "files/proc/many").unlink()
    (folder / "files/proc/many").symlink_to(tmp_path / "secret")
    with pytest.raises(BadInput, match="files/proc/many: leads outside the folder"):
        RecordedRunner.open(str(folder))


def test_secrets_of_configuration_files_never_reach_the_recording() -> None:
    conf = (
        "[DEFAULT]\ntransport_url = rabbit://u:pw@c\n[neutron]\npassword=pw\nregion = one\n"
        "[database]\nconnection: mysql://u:pw@c\nmemcache_secret_key = pw\n"
    )
    masked = without_secrets("/etc/nova/nova.conf", conf)
    assert "pw" not in masked
    assert "region = one" in masked
    assert without_secrets("/proc/cmdline", "password=x") == "password=x"


def test_the_recorder_masks_what_it_hands_on_too() -> None:
    fake = FakeRunner(files={"/etc/a.conf": "password = pw\n"})
    recorder = Recorder(fake)
    assert recorder.read("/etc/a.conf") == recorder.recording.files["/etc/a.conf"]
    assert "pw" not in recorder.read("/etc/a.conf")


def test_save_recording_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        save(Recording("host", files={"/etc/a": "1\n2\n", "/sys/b": "1\n"}), tmp_path / "new")
    finally:
        os.umask(before)
    for path in [tmp_path / "new", *(tmp_path / "new").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_load_recording_with_a_fifo_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    save(Recording("host", files={"/etc/a": "1\n2\n"}), folder)
    (folder / "files" / "etc" / "a").unlink()
    os.mkfifo(folder / "files" / "etc" / "a")
    with pytest.raises(BadInput, match="is no file"):
        load(folder)
