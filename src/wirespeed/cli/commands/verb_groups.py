# SPDX-License-Identifier: Apache-2.0
"""List the verbs of each group of verbs, with their functions and summaries."""

from __future__ import annotations

from wirespeed.cli.command_kinds import VerbGroup

RUNS = VerbGroup(
    "List the runs in the store, newest first; name, tag, delete a run; check the store.",
    {
        "rename": (
            "run_labels:rename",
            "Name a run; every verb accepts the name instead of the id, which stays valid.",
        ),
        "tag": (
            "run_labels:tag",
            "Add a tag to a run; `wirespeed runs --tag TAG` lists those that have it.",
        ),
        "note": (
            "run_labels:note",
            "Store a note with a run and replace an older one; `wirespeed runs` shows it.",
        ),
        "list": (
            "runs:show",
            "List the runs in the store, newest first. Exits with 1 where one is damaged.",
        ),
        "check": (
            "runs:check_store",
            "Read every run whole, and check SQLite's pages. Exits with 1 where something is "
            "damaged.",
        ),
        "delete": (
            "runs:delete",
            "Delete a run with its points, trials and series, and the pair test that it is the "
            "result of.",
        ),
        "upgrade": ("runs:upgrade", "Bring a store of an older wirespeed up to this one's schema."),
    },
    default="list",
    no_args_is_help=False,
)

PLAN = VerbGroup(
    "Plan a deployment: `wirespeed plan WORKLOAD.toml --host A.json --host B.json`.",
    {
        "make": (
            "plan:make",
            "Place the workload on all hosts at once and derive every value, each with its reason.",
        ),
        "show": (
            "plan:show",
            "Draw a plan: cores and their owners, memory, NICs, guests, what did not fit.",
        ),
        "diff": (
            "plan:diff",
            "List what changes, and which changes need a reboot, a restart or a rebuild of guests.",
        ),
        "render": ("plan:render_plan", "Write the plan as files for the programs that apply it."),
    },
    default="make",
)

STUDY = VerbGroup(
    "List the shipped studies; show what one would run.",
    {
        "list": ("study:list_studies", "List the studies that come with wirespeed."),
        "show": (
            "study:show_study",
            "Show the points that a study would run, with every parameter; measure nothing.",
        ),
    },
)

FLEET = VerbGroup(
    "Compare the hosts of a fleet, whose results Ansible has brought into the store.",
    {
        "snapshot": (
            "fleet_snapshot:snapshot",
            "Write a host's facts and audit into one file for `wirespeed fleet add`, and print a "
            "summary.",
        ),
        "add": (
            "fleet_files:add",
            "Put what was fetched from hosts into the store: snapshots (*.json) and runs "
            "(*.sqlite).",
        ),
        "sites": (
            "fleet_sites:sites",
            "Summarize the tests of each site's speed-test servers; delete results that are too "
            "old.",
        ),
        "show": (
            "fleet:show",
            "Group hosts by hardware; show settings that differ, outlying results and audit rules.",
        ),
        "hosts": (
            "fleet_hosts:hosts",
            "Print every host with its address, site, hardware and verdict as JSON: an inventory.",
        ),
        "pairs": VerbGroup(
            "Measure between pairs of hosts; no two measurements share a host, link or generator.",
            {
                "add": (
                    "fleet_pairs:add",
                    "Add pair tests to measure; tests whose names exist stay unchanged.",
                ),
                "list": ("fleet_pairs:show", "Print every pair test, its state and its run."),
                "retry": (
                    "fleet_pairs:retry",
                    "Queue failed pair tests again, all or those named.",
                ),
                "work": (
                    "fleet_pairs:work_off",
                    "Measure pair tests until none is left. Several controllers may run it at "
                    "once.",
                ),
            },
        ),
    },
    default="show",
    no_args_is_help=False,
)

PREDICT = VerbGroup(
    "Predict rates: `wirespeed predict STUDY` or `wirespeed predict PLAN.json`.",
    {
        "rate": (
            "predict:rate",
            "Predict the rate of each point under full load, what limits it, and what is next.",
        ),
        "fit": (
            "predict:fit_parameters",
            "Estimate a machine's parameters for each CPU placement, with intervals.",
        ),
        "ask": ("predict:ask", "Predict one deployment, and what each change of it would bring."),
    },
    default="rate",
)

KPI = VerbGroup(
    "Record the counters of hosts with every run; export them to CSV and Prometheus.",
    {
        "record": (
            "kpi_record:record",
            "Record raw counters of hosts into the store until --for has passed, or Ctrl-C.",
        ),
        "export": (
            "kpi_export:export",
            "Export a recording to files. Values are raw counters; rates are left to the reader.",
        ),
        "cost": (
            "kpi_cost:cost",
            "Show what a recording cost: CPU time and duration of reads, and losses that fall "
            "into them.",
        ),
        "exporter": (
            "kpi_exporter:exporter",
            "Serve /metrics to Prometheus until Ctrl-C. Counters are read at each scrape.",
        ),
        "list": ("kpi:show_list", "List the recordings in the store, newest first."),
        "show": (
            "kpi:show",
            "Show a recording: its sources with their series, its marks, and stalls of polling "
            "threads.",
        ),
        "mark": (
            "kpi:mark",
            "Mark this moment in a recording that is being written on this machine, or any other "
            "one.",
        ),
        "clean": ("kpi:clean", "Delete recordings by age, by total size, or by id. Runs stay."),
    },
)

BNG = VerbGroup(
    "Make tables for the Broadband Network Gateway and draw its cycles.",
    {
        "tables": (
            "bng:tables",
            "Write a table file of any size: subscribers, routes and next hops.",
        ),
        "curve": (
            "bng:curve",
            "Draw the cycles of a frame over the number of subscribers, from a benchmark's output.",
        ),
    },
)

ROUTER = VerbGroup(
    "Write routing tables of any size; compare a router's with the kernel's.",
    {
        "check": (
            "router_check:check",
            "Compare every route of the kernel with the tables of the wsdp router that follows it.",
        ),
        "table": (
            "router:table",
            "Write a routing table with the prefix lengths of the Internet's tables.",
        ),
    },
)

IMAGE = VerbGroup(
    "Build, list and remove the images that guests and lab hosts boot from.",
    {
        "build": (
            "image:build",
            "Build an image from Debian packages, unless it exists. Needs root and a Debian "
            "mirror.",
        ),
        "list": ("image:list_images", "List the images that are built, with their size on disk."),
        "remove": (
            "image:remove",
            "Remove images. Running machines keep the files that they have open.",
        ),
    },
)

LAB = VerbGroup(
    "Start and stop emulated two-socket servers with SR-IOV NICs, used as ssh://lab1.",
    {
        "up": (
            "lab:up",
            "Start the lab, and wait until its nodes answer. Needs QEMU 8 or newer, but no KVM.",
        ),
        "down": ("lab:down", "Stop the lab and remove its files, its nodes' disks included."),
        "status": ("lab:status", "Show the lab's nodes, and how each is reached."),
        "reboot": ("lab:reboot", "Reboot a node and wait until it answers again."),
        "power-cycle": (
            "lab:power_cycle",
            "Cut a node's power, restore it and wait until the node answers. Its disks stay.",
        ),
    },
)
