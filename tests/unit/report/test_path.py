# SPDX-License-Identifier: Apache-2.0
"""Check that the picture of a path shows the trial's rates and losses at their places."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.support.sample import observing
from tests.unit.explain.test_explain import with_drops
from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.model.result.hop_counts import Drop, DropCause, PortCount
from wirespeed.model.study.spec import Topology
from wirespeed.report.charts.path_svg import path_svg
from wirespeed.report.page.html import html_report
from wirespeed.report.text.explained import explained
from wirespeed.report.text.path import PathView, path_view, queue_words, why_no_path
from wirespeed.store.records import PointRecord, RunRecord


def shown(point: PointRecord) -> PathView:
    found = path_view(point)
    assert found is not None
    return found


def test_hops_and_links_are_those_of_the_topology(run: RunRecord) -> None:
    view = shown(run.points[3])
    assert [hop.name for hop in view.hops] == [
        "generator", "Open vSwitch", "vnf0", "Open vSwitch", "generator, receiving",
    ]  # fmt: skip
    assert [link.ends[1] for link in view.links] == [
        "switch:east", "vnf0:a", "switch:vnf0b", "tg:west",
    ]  # fmt: skip
    assert len(shown(run.points[0]).links) == 2


@pytest.mark.parametrize(("index", "place"), [(0, 0), (3, 1)])
def test_offered_frames_are_received_or_lost_along_the_path(
    run: RunRecord, index: int, place: int
) -> None:
    point = run.points[index]
    view = shown(point)
    trial = point.trials[view.trial - 1].trial
    lost = [sum(loss.frames for loss in link.losses) for link in view.links]
    assert lost[place] == trial.lost > 0
    assert sum(lost) == trial.lost
    received_fps = trial.received / trial.duration_s
    assert view.links[-1].fps == pytest.approx(received_fps)
    assert view.links[-1].share == pytest.approx(trial.received / trial.offered)


def test_frames_queued_along_the_path_are_shown(run: RunRecord) -> None:
    view = shown(run.points[3])
    assert view.queued is not None
    assert 0 <= view.queued[0] <= view.queued[1] == 4096
    assert "The smallest queue of a direction holds 1,024 frames." in list(queue_words(view))


@pytest.mark.parametrize("hop", ["switch", "vnf0", "tg", "tg:west", "vnf0:b-switch:vnf0b"])
def test_every_place_of_a_path_has_its_losses(run: RunRecord, hop: str) -> None:
    view = shown(with_drops(run.points[3], Drop(hop, DropCause.UNKNOWN, 7)))
    places = [*view.hops, *view.links]
    assert [loss.frames for place in places for loss in place.losses][:1] == [7]
    assert view.elsewhere == ()


def test_losses_at_other_places_are_reported_in_words(run: RunRecord) -> None:
    view = shown(with_drops(run.points[3], Drop("switch:patch", DropCause.NO_FLOW, 7)))
    assert "Lost elsewhere, at switch:patch: 7 frames (no_flow)." in list(queue_words(view))


def test_of_several_paths_the_one_that_loses_most_is_shown(run: RunRecord) -> None:
    point = run.points[3]
    spec = replace(point.frames, topology=Topology("parallel", 3))
    paths = sut_of(spec).paths
    assert point.sut is not None
    point = replace(point, workload=spec, sut=replace(point.sut, paths=paths))
    drops = (Drop("switch:vnf0a", DropCause.NO_FLOW, 1), Drop("switch:vnf2a", DropCause.NO_FLOW, 9))
    view = shown(with_drops(point, *drops))
    assert view.hops[2].name == "vnf2"
    assert (view.links[0].streams, view.links[1].streams, view.further) == (3, 1, 2)


def test_without_counts_of_ports_or_paths_there_is_none(run: RunRecord) -> None:
    point = run.points[0]
    assert point.sut is not None
    assert path_view(replace(point, sut=replace(point.sut, paths=()))) is None
    bare = observing(point, ports=())
    assert explained(run, bare).path is None
    assert "was not stored with its trials" in why_no_path(bare.sut)
    assert "not stored, or is not known" in why_no_path(None)


def test_a_port_that_nobody_counts_has_what_its_neighbour_received(run: RunRecord) -> None:
    point = run.points[0]
    decided = shown(point).trial
    view = shown(observing(point, ports=(PortCount("switch:east", 500, 0),)))
    assert view.trial == decided
    assert view.links[0].fps * view.duration_s == 500


def test_the_drawing_has_every_rate_and_loss_and_stays_inside(run: RunRecord) -> None:
    for point in run.points:
        view = shown(point)
        drawing = path_svg(view, standalone=True)
        for hop in view.hops:
            assert f">{hop.name}<" in drawing
        assert drawing.count('class="flow"') == len(view.links)
        assert drawing.count('class="lost-here"') == sum(len(link.losses) for link in view.links)
        found = re.search(r'viewBox="0 0 (\d+) (\d+)"', drawing)
        assert found is not None
        for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)"', drawing):
            assert float(y) < int(found[2])


def test_the_report_has_the_drawing_of_each_point(run: RunRecord) -> None:
    page = html_report(run)
    assert page.count("Path of the frames at") == len(run.points)
    assert page.count("Path at") >= len(run.points)


def test_the_report_has_the_resources_of_each_point(run: RunRecord) -> None:
    page = html_report(run)
    assert page.count("Use of each resource") == len(run.points)
    assert page.count('<span class="fail">limits</span>') == len(run.points)
