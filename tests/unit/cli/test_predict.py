# SPDX-License-Identifier: Apache-2.0
"""Check wirespeed predict as its users call it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.verb_app import printed
from wirespeed.model.errors import BadInput
from wirespeed.predict.document import write_parameters
from wirespeed.predict.published import shipped_parameters
from wirespeed.store.store import Store

ROOT = Path(__file__).parents[3]
S2_CSV = ROOT / "src" / "wirespeed" / "published" / "data" / "s2.csv"

S2_HOST = str(ROOT / "examples" / "s2-chains")


def predicted(*words: str) -> str:
    return printed("predict", *words)


def checked(*words: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(predicted(*words, "--json"))
    schema = (ROOT / "schemas" / "prediction.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(document, json.loads(schema))
    return document


def test_a_study() -> None:
    assert len(checked("quickstart")["points"]) == 6  # type: ignore[arg-type]
    assert "PMD cores" in predicted("quickstart")


def test_a_plan() -> None:
    points = checked(str(ROOT / "examples" / "s2-chains" / "plan.json"))["points"]
    assert {point["case"]["attachment"] for point in points} == {"vhost", "sriov"}  # type: ignore[attr-defined]


def test_ask_lists_the_gain_of_each_change() -> None:
    words = ("ask", "--interface", "sriov", "--pattern", "east-west", "--functions", "6")
    changes = {c["change"]: c for c in checked(*words)["changes"]}  # type: ignore[attr-defined]
    assert changes["vhost instead of SR-IOV"]["gain"] > 0.5
    assert changes["a second NIC"]["gain"] == pytest.approx(1, abs=0.01)
    assert changes["PCIe generation 4"]["gain"] == 0
    assert "NIC packet engine" in predicted(*words)


def test_predict_as_host_says_what_agrees_with_the_paper() -> None:
    shown = predicted("s2-interfaces", "--as-host", S2_HOST, "--set", "vary.traffic.frame=[64]")
    assert "Predicted for s2-r730: 2.2 GHz, 40 Gbit/s, PCIe 8 GT/s x8" in shown
    assert "agrees: vhost-user north-south, all 8 points: correlation with S2 1.00" in shown
    assert "open: virtio, north-south, 64 B: sut.vswitch.kind = 'linux-bridge'" in shown


def test_predict_fitted_here_without_runs_is_rejected(tmp_path: Path) -> None:
    with Store(str(tmp_path / "empty.sqlite")):
        pass
    words = ("--fitted-here", "--clock-ghz", "2.6", "--store", str(tmp_path / "empty.sqlite"))
    with pytest.raises(BadInput, match="no MRR of grade C or better"):
        predicted("quickstart", *words)


def test_a_fit_is_written_and_used(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert "Not distinguishable" in predicted("fit", str(S2_CSV), "-o", str(file))
    assert "180 points" in predicted("sriov", "--params", str(file))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("wire",), "topology.kind = 'wire' is not predicted"),
        (("s0-speedtest",), "TCP is not predicted"),
        (("ask", "--interface", "magic"), "--interface magic: unknown"),
        (("ask", "--functions", "0"), "must be 0 with attachment none"),
        (("fit", "a.csv", "latest"), "a.csv: cannot be combined with latest"),
        (("fit", str(S2_CSV), "--keep", "speed"), "--keep speed: not among the parameters"),
        (("quickstart", "--params", "missing.json"), "missing.json cannot be read"),
        (("quickstart", "--fitted-here"), "clock of this machine's cores is not known"),
        (("quickstart", "--fitted-here", "--params", "p.json"), "both name parameters"),
        (("quickstart", "--as-host", "missing.json"), "missing.json"),
        (("quickstart", "--as-host", S2_HOST, "--json"), "--as-host: has no --json output"),
        (("s0-speedtest", "--as-host", S2_HOST), "no point is covered"),
    ],
)
def test_bad_input_is_one_clear_error(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadInput) as error:
        predicted(*words)
    assert said in error.value.what


def test_a_plan_takes_predicted_numbers(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text(write_parameters(shipped_parameters()), encoding="utf-8")
    example = ROOT / "examples" / "s2-chains"
    words = [str(example / "workload.toml"), "--host", str(example / "host.json"), "--json"]

    def planned(*more: str) -> str:
        return printed("plan", *words, *more)

    assert "predicted with parameters of S2" in planned("--params", str(file))
    assert "predicted" not in planned()
