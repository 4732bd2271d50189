# SPDX-License-Identifier: Apache-2.0
"""Check that a fit finds the true parameters, and reports those it cannot know."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Counted, RateKind
from wirespeed.predict import regression
from wirespeed.predict.document import parse_parameters, write_parameters
from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation, parse_observations
from wirespeed.predict.parameters import BY_NAME
from wirespeed.predict.pcie import Floats
from wirespeed.predict.predict import rates
from wirespeed.predict.published import ASSUMED, fit_s2, published, shipped_parameters

S2 = shipped_parameters()
SCHEMA = Path(__file__).parents[3] / "schemas" / "parameters.schema.json"
HEAD = "attachment,arrangement,functions,frame_bytes,counted,kind,rate_fps\n"
ROW = "sriov,east-west,2,64,transmitted,mrr,16900000\n"


def made(noise: float = 0.0) -> list[Observation]:
    """Return rates of a machine with known parameters. noise: relative error of the rates."""
    cases = [o.case for o in published("s2")]
    random = np.random.default_rng(7)
    factors = np.exp(noise * random.standard_normal(len(cases)))
    return [
        Observation(case, float(rate * factor), RateKind.MRR, "")
        for case, rate, factor in zip(cases, rates(cases, S2), factors, strict=True)
    ]


def test_a_fit_finds_the_parameters_that_made_the_rates() -> None:
    found = fit(made(), "made", known=ASSUMED)
    for name, estimate in S2.values.items():
        assert found.values[name].value == pytest.approx(estimate.value, rel=1e-3), name
    assert found.error < 0.01


def test_intervals_grow_with_the_noise() -> None:
    quiet, loud = (fit(made(noise), "made", known=ASSUMED) for noise in (0.001, 0.02))

    def width(name: str) -> tuple[float, float]:
        return tuple(  # type: ignore[return-value]
            f.values[name].high - f.values[name].low for f in (quiet, loud)
        )

    for name in ("vhost_rx_ns", "engine_ns", "switch_byte_ns"):
        narrow, wide = width(name)
        assert 0 < narrow < wide


def test_fit_of_one_size_reports_inseparable_parameters() -> None:
    chains = [
        o for o in made(0.002)
        if o.case.attachment is Attachment.VHOST and o.case.frame_bytes == 64
        and o.case.arrangement is Arrangement.CHAIN
    ]  # fmt: skip
    known = {n: e.value for n, e in S2.values.items() if n not in ("vhost_rx_ns", "vhost_tx_ns")}
    found = fit(chains, "chains", known=known)
    assert found.together == (("vhost_rx_ns", "vhost_tx_ns"),)
    assert not found.values["vhost_rx_ns"].determined


def test_of_three_inseparable_parameters_none_has_an_interval() -> None:
    names = ("vhost_rx_ns", "vhost_rx_byte_ns", "vhost_tx_ns")
    chains = [
        o for o in made(0.002)
        if o.case.attachment is Attachment.VHOST and o.case.frame_bytes == 64
        and o.case.arrangement is Arrangement.CHAIN
    ]  # fmt: skip
    known = {n: e.value for n, e in S2.values.items() if n not in names}
    found = fit(chains, "chains", known=known)
    assert found.together == (names,)
    for name in names:
        assert not found.values[name].determined
        assert (found.values[name].low, found.values[name].high) == (
            BY_NAME[name].lower, BY_NAME[name].upper,
        )  # fmt: skip


def test_a_known_parameter_is_in_no_group_of_others_that_are_not() -> None:
    """At one size, times for a frame and for an octet go together; the share of a core does not."""
    chains = [
        o for o in made()
        if o.case.attachment is Attachment.VHOST and o.case.frame_bytes == 64
    ]  # fmt: skip
    names = ("vhost_rx_ns", "vhost_rx_byte_ns", "transmit_share")
    known = {n: e.value for n, e in S2.values.items() if n not in names}
    found = fit(chains, "chains", known=known)
    assert found.together == (names[:2],)
    assert found.values["transmit_share"].determined


def test_a_parameter_without_effect_changes_nothing_about_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The derivative by such a parameter is rounding error, which differs between CPUs."""
    names = ("vhost_rx_ns", "vhost_rx_byte_ns", "burst_ns")
    known = {n: e.value for n, e in S2.values.items() if n not in names}
    chains = [o for o in made(0.002) if o.case.attachment is Attachment.VHOST]
    solve = regression.solve
    random = np.random.default_rng(3)

    def with_rounding(*arguments: Any) -> regression.Fitted:
        found = solve(*arguments)
        jacobian = found.jacobian.copy()
        of = found.names.index
        # It points where another parameter does, as it may by chance.
        error = random.normal(size=len(jacobian)) + 20 * _unit(jacobian[:, of("vhost_rx_ns")])
        jacobian[:, of("burst_ns")] = 1e-9 * error
        return replace(found, jacobian=jacobian)

    monkeypatch.setattr("wirespeed.predict.fit.solve", with_rounding)
    found = fit(chains, "chains", known=known)
    assert found.together == ()
    assert found.values["vhost_rx_ns"].determined
    assert found.values["vhost_rx_byte_ns"].determined
    without = found.values["burst_ns"]
    assert not without.determined
    assert (without.low, without.high) == (
        BY_NAME["burst_ns"].lower,
        BY_NAME["burst_ns"].upper,
    )


def _unit(column: Floats) -> Floats:
    return column / np.linalg.norm(column)


def test_the_shipped_parameters_are_the_fit_to_the_shipped_table() -> None:
    again = fit_s2()
    for name, estimate in S2.values.items():
        assert again.values[name].value == pytest.approx(estimate.value, rel=0.01), name
    assert again.error == pytest.approx(S2.error, rel=0.05)


def test_parameters_survive_their_file() -> None:
    text = write_parameters(S2)
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert parse_parameters(text, "f") == S2


def changed(**keys: object) -> str:
    return json.dumps(json.loads(write_parameters(S2)) | keys)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        (changed(schema_version="2.0"), 'schema_version "2.0"'),
        (changed(colour="red"), "colour: unknown key"),
        (changed(parameters={}), "at least one parameter"),
        (changed(parameters={"speed": {"value": 1}}), "unknown; there are vhost_rx_ns"),
        (changed(parameters={"engine_ns": {"value": 99}}), "99 must be a number from 1 to 60 ns"),
        (changed(parameters={"engine_ns": {"value": "x"}}), "from 1 to 60 ns"),
        (changed(error=-1), "error: -1 must be"),
        (changed(kind="best"), "must be one of mrr, ndr, pdr"),
        (changed(clock_hz=1), "clock_hz: 1 must be"),
    ],
)
def test_bad_parameters_are_reported_with_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_parameters(text, "p.json")
    assert said in error.value.what


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "column attachment: is missing"),
        (HEAD, "there is no point"),
        (HEAD.replace("rate_fps", "rate_l1_bps") + ROW, "column 'rate_l1_bps': unknown"),
        (HEAD + ROW.replace("sriov", "magic"), "must be one of vhost, sriov, port, none"),
        (HEAD + ROW.replace(",64,", ",60,"), "must be a number from 64 to 9216"),
        (HEAD + ROW.replace("16900000", "nan"), "rate_fps 'nan' must be a number"),
        (HEAD + ROW.replace(",2,", ",0,"), "functions 0: must be 0 with attachment none"),
        (HEAD + ROW + ROW.replace("mrr", "ndr"), "rates of kinds mrr, ndr are mixed"),
        (HEAD + ROW + ROW.replace("transmitted", "delivered"), "are mixed"),
    ],
)
def test_bad_rates_are_reported_with_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_observations(text, "r.csv")
    assert said in error.value.what


def test_fewer_points_than_parameters() -> None:
    case = Case(Attachment.SRIOV, Arrangement.CHAIN, 2, 64, counted=Counted.TRANSMITTED)
    few = [Observation(replace(case, functions=n), 17e6, RateKind.MRR, "") for n in (2, 3)]
    with pytest.raises(BadInput, match="2 points for 7 parameters"):
        fit(few, "few")


def test_without_scipy_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression, "find_spec", lambda _: None)
    with pytest.raises(WirespeedError, match="fitting needs scipy"):
        fit(made(), "made", known=ASSUMED)
