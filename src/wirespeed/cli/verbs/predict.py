# SPDX-License-Identifier: Apache-2.0
"""Predict rates, what limits them, and what would change them (`wirespeed predict`)."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import plain_console, print_json
from wirespeed.cli.input.options import JsonOption, SetOption, StoreOption
from wirespeed.cli.input.predict_input import (
    choice,
    is_csv,
    kept,
    observations_of_runs,
    points_of,
)
from wirespeed.cli.input.predictions import parameters_of
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.predict_tables import (
    print_changes,
    print_parameters,
    print_predictions,
    print_waterfall,
)
from wirespeed.cli.verbs.predict_fit import chosen, fit_each, print_check
from wirespeed.document.text_file import read_input
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case
from wirespeed.predict.answer import prediction_document, sensitivity_document
from wirespeed.predict.ask import sensitivity
from wirespeed.predict.document import write_parameters
from wirespeed.predict.observation import impossible, parse_observations
from wirespeed.predict.predict import describe, predict

ParametersOption = Annotated[
    Path | None,
    typer.Option(
        "--params",
        metavar="FILE",
        help="Parameters written by `wirespeed predict fit`. Default: those of S2's server.",
    ),
]


ClockOption = Annotated[
    float | None,
    typer.Option(
        "--clock-ghz",
        metavar="GHZ",
        min=0.1,
        max=10.0,
        help="Clock of the cores that were measured; rates for other clocks are scaled by it.",
    ),
]


def rate(
    what: Annotated[
        str, typer.Argument(metavar="STUDY|PLAN", help="A study, or a plan written with -o.")
    ],
    *,
    params: ParametersOption = None,
    fitted_here: Annotated[
        bool,
        typer.Option(
            "--fitted-here",
            help="Fit the parameters to this machine's runs in the store; needs --clock-ghz.",
        ),
    ] = False,
    clock_ghz: ClockOption = None,
    as_host: Annotated[
        str | None,
        typer.Option(
            "--as-host", metavar="HOST",
            help="Predict a study for this server: a file by `wirespeed inspect --json`, or a "
            "folder with a host.json.",
        ),
    ] = None,
    set_: SetOption = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:  # fmt: skip
    """Predict the rate of each point under full load, what limits it, and what is next."""
    if fitted_here and params is not None:
        raise BadInput("--fitted-here and --params: both name parameters", "Give one of them.")
    if fitted_here or as_host is not None:
        # It loads reports, for which no other prediction should wait.
        from wirespeed.cli.verbs import predict_elsewhere as elsewhere
    parameters = elsewhere.fitted_here(store, clock_ghz) if fitted_here else parameters_of(params)
    if as_host is not None:
        if json:
            raise BadInput("--as-host: has no --json output", "Leave out --json.")
        elsewhere.print_elsewhere(what, set_ or (), as_host, parameters, plain_console())
        return
    points = points_of(what, set_ or ())
    found = predict([case for _, case in points], parameters)
    answers = [(label, case, p) for (label, case), p in zip(points, found, strict=True)]
    if json:
        print_json(
            json_text.dumps(prediction_document(parameters, answers), indent=2, allow_nan=False)
        )
        return
    console = plain_console()
    print_predictions([(label, found) for label, _, found in answers], parameters, console)
    print_waterfall(answers[0][0], answers[0][2], console)


def fit_parameters(
    data: Annotated[
        list[str],
        typer.Argument(metavar="RUN...|CSV", help='Runs by id or "latest", or one CSV of rates.'),
    ],
    *,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Rate to fit from runs: mrr, ndr or pdr.")
    ] = "mrr",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="NAME",
            help="Keep a parameter as in --params instead of fitting it. Repeatable.",
        ),
    ] = None,
    params: ParametersOption = None,
    clock_ghz: ClockOption = None,
    placement: Annotated[
        str | None,
        typer.Option(
            "--placement", metavar="PLACEMENT",
            help="Of runs: fit rates of this CPU placement: one cache, across caches or one core. "
            "Default: each, and write the one with the most points.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Exclude each curve in turn, predict it, and print the errors."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the parameters as JSON."),
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:  # fmt: skip
    """Estimate a machine's parameters for each CPU placement, with intervals."""
    if is_csv(data):
        source = data[0]
        observations = parse_observations(read_input(Path(source)), source)
    else:
        source = f"run {', '.join(data)}"
        observations = observations_of_runs(data, kind, store)
    values = kept(keep or (), parameters_of(params))
    clock_hz = clock_ghz * 1e9 if clock_ghz else None
    found = fit_each(chosen(observations, placement), source, values, clock_hz)
    best = max(found, key=lambda each: each.parameters.points)
    text = write_parameters(best.parameters)
    if output is not None:
        write_output(output, text)
    if json:
        print_json(text)
        return
    console = plain_console()
    for each in found:
        print_parameters(each.parameters, console)
        if check:
            print_check(each, console)


def ask(
    *,
    interface: Annotated[
        str, typer.Option("--interface", metavar="KIND", help="vhost, sriov, port or none.")
    ] = "vhost",
    pattern: Annotated[
        str, typer.Option("--pattern", metavar="PATTERN", help="north-south or east-west.")
    ] = "north-south",
    functions: Annotated[
        int, typer.Option("--functions", min=0, max=1000, help="Number of network functions.")
    ] = 1,
    frame: Annotated[
        int,
        typer.Option(
            "--frame", metavar="OCTETS", min=64, max=9216,
            help="Frame size in octets, FCS included.",
        ),
    ] = 64,
    link_gbps: Annotated[
        float,
        typer.Option(
            "--link-gbps", min=0.1, max=1000.0, help="Speed of each NIC port in Gbit/s."
        ),
    ] = 40.0,
    pmds: Annotated[
        int | None,
        typer.Option(
            "--pmds", min=1, max=256,
            help="PMD cores that share all ports. Default: one for each vhost port and one for "
            "the NIC.",
        ),
    ] = None,
    queues: Annotated[
        int,
        typer.Option(
            "--queues", min=1, max=64, help="Cores of each function, with one queue each."
        ),
    ] = 1,
    nics: Annotated[
        int, typer.Option("--nics", min=1, max=16, help="Number of NICs that share the frames.")
    ] = 1,
    pcie_gts: Annotated[
        float,
        typer.Option(
            "--pcie-gts", min=2.5, max=64.0,
            help="PCIe speed in GT/s: 8 for generation 3, 16 for generation 4.",
        ),
    ] = 8.0,
    pcie_lanes: Annotated[
        int, typer.Option("--pcie-lanes", min=1, max=32, help="PCIe lanes of each NIC's slot.")
    ] = 8,
    params: ParametersOption = None,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Predict one deployment, and what each change of it would bring.

    The rate counts frames that leave the last function.
    """
    parameters = parameters_of(params)
    case = Case(
        choice(Attachment, interface, "--interface"), choice(Arrangement, pattern, "--pattern"),
        functions, frame, link_bps=link_gbps * 1e9, ports=nics, nics=nics, pmds=pmds,
        function_cores=queues, pcie_lanes=pcie_lanes, pcie_gts=pcie_gts,
    )  # fmt: skip
    if faults := impossible({"attachment": case.attachment, "functions": functions}):
        raise BadInput(f"--{faults[0]}", "Use --interface none --functions 0 for a switch alone.")
    found = predict([case], parameters)[0]
    changes = sensitivity(case, parameters)
    if json:
        document = sensitivity_document(parameters, case, found, changes)
        print_json(json_text.dumps(document, indent=2, allow_nan=False))
        return
    console = plain_console()
    print_predictions([(describe(case), found)], parameters, console)
    print_waterfall(describe(case), found, console)
    print_changes(changes, console)
