# SPDX-License-Identifier: Apache-2.0
# Every target sets up what it needs: packages by name, a virtual environment, the data plane.

PYTHON ?= python3
VENV := .venv
NOVA_VENV := .venv-nova
LOCK_VENV := .venv-lock
LOCKS := setup/locks
BIN := $(VENV)/bin
DATAPLANE := build/dataplane
GUEST_DATAPLANE := build/dataplane-guest
SANITIZED := build/dataplane-asan
KUBELET_ORACLE := build/kubelet-oracle
KUBELET := build/kubelet
KUBECTL_VALIDATE := build/kubectl-validate
API_SERVER := build/kube-apiserver
PACKAGES := build/packages
# Built in a root of Debian 13, for its DPDK; a Debian 13 has that DPDK itself.
DEBIAN13 := build/debian13/src/build
IS_DEBIAN12 = $(filter bookworm,$(shell . /etc/os-release && echo $$VERSION_CODENAME))
C_FILES = $(shell git ls-files 'dataplane/*.c' 'dataplane/*.h')
# Run parts, some next to each other; a part that fails hides no other, and a table of all ends it.
PARTS := $(PYTHON) setup/parts.py
# Packages of others are wheels with the hashes of setup/locks; they include our build backend.
PIP_INSTALL := pip install --quiet --disable-pip-version-check
LOCKED := $(PIP_INSTALL) --require-hashes --only-binary :all:
OURS := $(PIP_INSTALL) --no-deps --no-build-isolation -e .
# One process at a time installs in the virtual environments or builds in a folder, whichever make
# started it: the lock is on a file or folder that is there anyway.
INSTALL := flock pyproject.toml
NINJA = flock $(1) ninja -C $(1) --quiet
# Which tests pytest runs, all by default: make test TESTS='tests/unit/setup tests/unit/cli'. A part that has
# none of a selection passes (pytest's exit status 5); without a selection that is an error.
TESTS :=
STUDY := quickstart
# A test of the short form that hangs fails after half an hour, with the stack of each thread; it takes minutes at most.
# Without xdist it ends its part.
NO_HANG := $(if $(WIRESPEED_EXHAUSTIVE),,-o faulthandler_timeout=1800 -o faulthandler_exit_on_timeout=true)
PYTEST := $(BIN)/pytest $(NO_HANG) $(TESTS)
OR_NONE_SELECTED := $(if $(TESTS),|| [ $$? = 5 ])
# Python compiles what is imported when it is imported first; see --no-compile below.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-all lint format bench papers explain-matrix docs clean \
	requirements requirements-dev requirements-guests tools cargo dataplane dataplane-dev dataplane-bench dataplane-asan speedtest speedtest-debug \
	speedtest-tests npm-client built lint-python lint-files lint-speedtest test-dataplane \
	test-dataplane-native test-unit test-alone test-nova test-kubelet test-kubernetes test-kubelet-lab record-kubelet test-speedtest test-speedtest-released \
	test-speedtest-fuzz dataplane-guest guest-image host-image lab lab-down test-lab test-lab-short \
	test-kpi test-fleet test-router fleet-bundle bill-of-materials requirements-openstack test-openstack test-openstack-short \
	test-openstack-compute test-openstack-full compute-image requirements-debian13 test-debian13 \
	test-debian13-short test-versions test-documents lock audit-locks requirements-deb \
	requirements-container wheels dataplane-debian13 packages-deb packages-deb13 container packages test-packages \
	test-packages-short

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-19s %s\n", $$1, $$2}' Makefile

setup: requirements $(VENV)/.run dataplane ## Install packages, make .venv, build the data plane

demo: setup ## Measure a real OVS-DPDK and leave a report in out/ (STUDY=quickstart)
	@mkdir -p out
	$(BIN)/wirespeed doctor $(STUDY)
	$(BIN)/wirespeed run $(STUDY) --html out/$(STUDY).html

# OpenStack, the emulated server and pip wait for themselves most of the time; test-unit is nice to them, but
# no more than 3: emulated CPUs run all the time, and at 10 an agent's start took over its 15 s next to them.
TEST_PARTS := built , test-speedtest test-dataplane , \
	test-unit test-lab-short test-openstack-short test-nova test-packages-short , test-alone

# Images of the short tests carry the debug build of the speed test, which other parts need as well.
test test-all: export WIRESPEED_SPEEDTEST := $(CURDIR)/speedtest/target/debug/wirespeed-speedtest
test: tools ## All tests in their short form: C under ASan and UBSan, Rust, Nova, Python, real OVS and OpenStack
	@$(PARTS) $(TEST_PARTS)

test-all: export WIRESPEED_EXHAUSTIVE := 1
test-all: tools ## The same with many more cases, fuzzing, C also natively, and the speed test as it is released
	@$(PARTS) $(TEST_PARTS) , test-dataplane-native , test-speedtest-fuzz , test-speedtest-released

lint: tools $(VENV)/.dev ## Formatting, types, import arrows, shell, lock files
	@$(PARTS) lint-python lint-files lint-speedtest

lint-python: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python setup/check_tree.py
	$(BIN)/python setup/check_templates.py
	$(BIN)/mkdocs build --quiet --strict --site-dir build/docs

# The last line reads what is installed and fetched, and asks no network.
lint-files: $(VENV)/.dev $(NOVA_VENV)/.installed cargo
	clang-format --dry-run --Werror $(C_FILES)
	git ls-files '*.sh' .ci/run | xargs shellcheck
	cd speedtest && cargo fetch --quiet --locked --target x86_64-unknown-linux-gnu
	$(BIN)/python setup/check_locks.py

lint-speedtest: cargo
	cd speedtest && cargo fmt --all --check
	cd speedtest && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings

format: setup-dev ## Rewrite Python and C in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	clang-format -i $(C_FILES)

bench: setup-dev dataplane-bench ## Every figure the project claims, side by side in one run
	$(BIN)/python -m benchmarks

explain-matrix: setup-dev ## Every injected fault x topologies x loads: count those named; resumes after an interruption
	$(BIN)/python -m benchmarks.fault_matrix --state build/fault-matrix.jsonl

papers: setup-dev ## Measure the papers' experiments in their short forms, and write docs/papers of them
	$(BIN)/python -m benchmarks.papers --write docs/papers $(if $(CLOCK_GHZ),--clock-ghz $(CLOCK_GHZ))

docs: setup-dev ## Regenerate the reference pages and schemas, build the documentation site, check every link (out/docs)
	$(BIN)/python -m wirespeed.cli.reference docs/reference
	$(BIN)/mkdocs build --quiet --strict --site-dir out/docs

clean: ## Remove what the other targets built, and what a killed run left on this host
	[ ! -x $(BIN)/wirespeed ] || $(BIN)/wirespeed clean
	rm -rf build out speedtest/target .mypy_cache .ruff_cache .pytest_cache .hypothesis

setup-dev: tools $(VENV)/.dev dataplane-dev speedtest

requirements:
	@setup/install-packages.sh setup/packages-run.txt

requirements-dev:
	@setup/install-packages.sh setup/packages-run.txt setup/packages-dev.txt

requirements-openstack:
	@setup/install-packages.sh setup/packages-openstack.txt

requirements-debian13:
	@setup/install-packages.sh setup/packages-debian13.txt

requirements-deb:
	@setup/install-packages.sh setup/packages-deb.txt

requirements-container:
	@setup/install-packages.sh setup/packages-container.txt

requirements-guests:
	@setup/install-packages.sh setup/packages-guests.txt

tools:
	@setup/install-packages.sh setup/packages-run.txt setup/packages-dev.txt \
		$$(command -v npm >/dev/null || echo setup/packages-npm.txt) \
		$$(command -v cargo >/dev/null || echo setup/packages-rust.txt)

cargo:
	@command -v cargo >/dev/null || setup/install-packages.sh setup/packages-rust.txt

$(BIN)/python: | requirements
	$(INSTALL) $(PYTHON) -m venv $(VENV)

# One chain: the interpreter, what runs, what develops. Two installs never share the environment.
$(VENV)/.run: pyproject.toml $(LOCKS)/run.txt $(LOCKS)/build.txt | $(BIN)/python
	$(INSTALL) $(BIN)/$(LOCKED) -r $(LOCKS)/run.txt -r $(LOCKS)/build.txt
	$(INSTALL) $(BIN)/$(OURS)
	touch $@

$(VENV)/.dev: $(LOCKS)/dev.txt $(VENV)/.run
	$(INSTALL) $(BIN)/$(LOCKED) --no-compile -r $(LOCKS)/dev.txt
	touch $@

$(DATAPLANE)/build.ninja: | requirements
	mkdir -p $(@D)
	flock $(@D) meson setup --buildtype=release $(DATAPLANE) dataplane

$(SANITIZED)/build.ninja: | requirements-dev
	mkdir -p $(@D)
	flock $(@D) meson setup --buildtype=plain --optimization=1 -Dc_args=-g1 \
		-Db_sanitize=address,undefined $(SANITIZED) dataplane

# Of the native build, only wsdp is needed to measure; meson builds the tests that it runs.
dataplane: $(DATAPLANE)/build.ninja
	@$(call NINJA,$(DATAPLANE)) wsdp

# Python's tests compare a histogram with one of a C test.
dataplane-dev: $(DATAPLANE)/build.ninja
	@$(call NINJA,$(DATAPLANE)) wsdp tests/pktlib/test_histogram

dataplane-bench: $(DATAPLANE)/build.ninja
	@$(call NINJA,$(DATAPLANE)) $(addprefix bench/bench_,bng_cycles bng_load bng_lookups router_cycles)

# An emulated CPU has not the instructions of this one.
$(GUEST_DATAPLANE)/build.ninja: | requirements
	mkdir -p $(@D)
	flock $(@D) meson setup --buildtype=release -Dmarch=x86-64-v2 $(GUEST_DATAPLANE) dataplane

# The build of the speed test that images carry.
IMAGE_SPEEDTEST = $(if $(WIRESPEED_SPEEDTEST),speedtest-debug,speedtest)

dataplane-guest: $(GUEST_DATAPLANE)/build.ninja
	@$(call NINJA,$(GUEST_DATAPLANE)) wsdp

guest-image: $(VENV)/.run requirements-guests dataplane-guest $(IMAGE_SPEEDTEST) ## Build what guests boot from
	$(BIN)/wirespeed image build guest

host-image: $(VENV)/.run requirements-guests dataplane-guest $(IMAGE_SPEEDTEST) ## Build what the lab's hosts boot from
	$(BIN)/wirespeed image build host

compute-image: $(VENV)/.run requirements-guests dataplane-guest $(IMAGE_SPEEDTEST)
	$(BIN)/wirespeed image build compute

lab: host-image ## Start two emulated servers; wirespeed inspect --host ssh://lab1
	$(BIN)/wirespeed lab up

lab-down: ## End them, and remove what they have written
	$(BIN)/wirespeed lab down

dataplane-asan: $(SANITIZED)/build.ninja
	@$(call NINJA,$(SANITIZED))

speedtest: cargo
	cd speedtest && cargo build --quiet --locked --release

# Shares its dependencies with the unit tests; a panic ends it, as it ends the release.
speedtest-debug: cargo
	cd speedtest && cargo rustc --quiet --locked -p speedtest-cli --bin wirespeed-speedtest -- -C panic=abort

speedtest-tests: speedtest-debug
	cd speedtest && cargo test --quiet --locked --no-run

# Side by side: one or another waits for the network.
built:
	@$(MAKE) --no-print-directory --keep-going --output-sync=target --jobs=3 npm-client \
		speedtest-tests dataplane-dev dataplane-asan $(NOVA_VENV)/.installed guest-image host-image

npm-client: $(VENV)/.dev
	$(BIN)/python -m tests.speedtest.ndt7_js_package

$(NOVA_VENV)/.installed: pyproject.toml $(LOCKS)/nova.txt | requirements
	flock $(LOCKS)/nova.txt $(PYTHON) -m venv $(NOVA_VENV)
	flock $(LOCKS)/nova.txt $(NOVA_VENV)/bin/$(LOCKED) --no-compile -r $(LOCKS)/nova.txt
	flock $(LOCKS)/nova.txt $(NOVA_VENV)/bin/$(OURS)
	touch $@

$(LOCK_VENV)/.installed: $(LOCKS)/lock.txt | requirements
	flock $(LOCKS)/lock.txt $(PYTHON) -m venv $(LOCK_VENV)
	flock $(LOCKS)/lock.txt $(LOCK_VENV)/bin/$(LOCKED) --no-compile -r $(LOCKS)/lock.txt
	touch $@

lock: $(LOCK_VENV)/.installed ## Write setup/locks from pyproject.toml (UPGRADE=--upgrade for newer versions)
	setup/lock.sh $(LOCK_VENV)/bin/uv $(UPGRADE)

audit-locks: $(LOCK_VENV)/.installed ## Ask the package index for known vulnerabilities of what setup/locks holds
	$(LOCK_VENV)/bin/pip-audit --strict --disable-pip $(addprefix -r ,$(wildcard $(LOCKS)/*.txt))

test-nova: $(NOVA_VENV)/.installed ## Compare our placement with the real Nova library's
	$(NOVA_VENV)/bin/python -m pytest $(NO_HANG) tests/nova_library

$(KUBELET_ORACLE): $(wildcard kubernetes/oracle/*)
	@command -v go >/dev/null || setup/install-packages.sh setup/packages-go.txt
	cd kubernetes/oracle && go build -o $(abspath $@) .

# Minutes of two CPUs for the first build, 400 MB of modules. MACHINES: each with 7 policies.
test-kubelet: MACHINES ?= 10000
test-kubelet: $(KUBELET_ORACLE) $(VENV)/.dev ## Compare our prediction of the kubelet with its own code, 10,000 machines
	WIRESPEED_KUBELET_ORACLE=$(abspath $(KUBELET_ORACLE)) WIRESPEED_KUBELET_MACHINES=$(MACHINES) \
		$(BIN)/pytest -q -n 2 tests/unit/plan/kubelet/test_oracle.py

$(KUBECTL_VALIDATE):
	@command -v go >/dev/null || setup/install-packages.sh setup/packages-go.txt
	GOBIN=$(abspath $(@D)) go install sigs.k8s.io/kubectl-validate@v0.0.4

$(API_SERVER): $(wildcard kubernetes/apiserver/*)
	@command -v go >/dev/null || setup/install-packages.sh setup/packages-go.txt
	cd kubernetes/apiserver && go build -o $(abspath $@) .

# Minutes of two CPUs and 400 MB of modules for the first build.
test-kubernetes: $(KUBELET_ORACLE) $(KUBECTL_VALIDATE) $(API_SERVER) $(VENV)/.dev ## Rendered files to a real API server, and by the kubelet's validation
	WIRESPEED_KUBELET_ORACLE=$(abspath $(KUBELET_ORACLE)) \
		WIRESPEED_KUBECTL_VALIDATE=$(abspath $(KUBECTL_VALIDATE)) \
		WIRESPEED_API_SERVER=$(abspath $(API_SERVER)) \
		$(BIN)/pytest -q $(addprefix tests/unit/plan/kubernetes/test_,validation.py api_server.py)

# The kubelet is a tool of the oracle's module, so that both have the same versions.
$(KUBELET): kubernetes/oracle/go.mod kubernetes/oracle/go.sum
	@command -v go >/dev/null || setup/install-packages.sh setup/packages-go.txt
	cd kubernetes/oracle && version=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes) && \
		CGO_ENABLED=0 go build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$version" \
			-o $(abspath $@) k8s.io/kubernetes/cmd/kubelet

# 7 minutes of CPU time for the first build, 10 minutes for the test.
test-kubelet-lab: export WIRESPEED_LAB := whole
test-kubelet-lab: $(KUBELET) $(VENV)/.dev host-image ## A real kubelet in an emulated server, by our configuration and pods
	WIRESPEED_KUBELET=$(abspath $(KUBELET)) $(BIN)/pytest --durations=0 -s tests/lab/test_kubelet.py

record-kubelet: $(KUBELET_ORACLE) $(VENV)/.dev ## Record the kubelet's answers that make test replays
	$(BIN)/python -m tests.unit.plan.kubelet.record $(abspath $(KUBELET_ORACLE))

test-speedtest: cargo
	cd speedtest && cargo test --quiet --locked

test-dataplane: dataplane-asan
	flock $(SANITIZED) meson test -C $(SANITIZED) --print-errorlogs

test-dataplane-native: requirements-dev dataplane
	flock $(DATAPLANE) meson test -C $(DATAPLANE) --print-errorlogs

test-speedtest-fuzz: cargo
	speedtest/fuzz/run.sh 60

test-speedtest-released: $(VENV)/.dev speedtest
	SPEEDTEST=$(CURDIR)/speedtest/target/release/wirespeed-speedtest $(BIN)/pytest tests/speedtest

# Most tests wait more than they reckon: two a CPU, in the order of tests/support/side_by_side.py.
test-unit: tools $(VENV)/.dev dataplane-dev speedtest-debug ## Tests that run next to each other
	nice -n 3 $(PYTEST) --durations=10 \
		-m 'not alone and not lab and not openstack and not fleet and not packages and not router' \
		--numprocesses=4 --dist=loadfile --no-loadscope-reorder $(OR_NONE_SELECTED)

# Pollers of a bench run at nice -20: a test next to them gets no CPU for seconds.
test-alone: tools $(VENV)/.dev dataplane speedtest-debug guest-image ## Tests that have the CPUs to themselves
	$(PYTEST) --durations=10 -m 'alone and not fleet' $(OR_NONE_SELECTED)

# Guests and one emulated server; what takes minutes on two CPUs is in test-lab.
test-lab-short: $(VENV)/.dev guest-image host-image
	$(PYTEST) --durations=10 -m 'lab and not alone' $(OR_NONE_SELECTED)

# Debian 13's DPDK, Open vSwitch and Python, in a root below build/ (setup/debian13.sh).
test-debian13: requirements-debian13 ## All tests on Debian 13, in a root that is made of packages
	setup/debian13.sh whole make test

test-debian13-short: requirements-debian13
	setup/debian13.sh short make test-versions

# What the versions of DPDK, Open vSwitch, Python and the compiler decide, in 2 minutes.
test-versions: $(VENV)/.dev dataplane
	$(BIN)/wirespeed run wire
	$(BIN)/pytest --durations=5 --numprocesses=2 --dist=loadfile $(addprefix tests/, \
		$(addprefix unit/,bench/test_device_strings.py bench/test_layout.py bench/test_vswitch.py \
		plan/test_examples.py remote/test_socket_paths.py) \
		$(addprefix dataplane/,test_control.py test_devices.py test_forward.py test_l3fwd.py))
	$(BIN)/pytest --durations=5 $(addprefix tests/real/alone/,test_real_long_paths.py test_real_ovs_factors.py)

test-kpi: tools $(VENV)/.dev dataplane ## Recordings, page and Prometheus: collectors, kills, alert rules, Chromium, real Open vSwitch
	$(BIN)/pytest --durations=10 tests/unit/kpi tests/unit/sources tests/unit/store/test_chunk_codec.py \
		tests/unit/store/test_recordings.py tests/unit/store/test_extremes.py tests/unit/live \
		tests/unit/cli/test_kpi.py tests/unit/cli/test_live.py tests/real/alone/test_real_kpi.py

test-fleet: $(VENV)/.dev ## Tests that take minutes: 20 pair tests with kills, ansible-test sanity, install, a real tune
	$(BIN)/pytest --durations=0 -m fleet

bill-of-materials: ## Write build/wirespeed.cdx.json: what the wheels and the speed test contain (CycloneDX)
	@mkdir -p build
	$(PYTHON) setup/bill_of_materials.py . >build/wirespeed.cdx.json

test-router: tools $(VENV)/.dev dataplane ## A router's proofs: 10,000 routing states, Linux's answers, sessions under floods, kills
	$(BIN)/pytest --durations=0 -s -m router tests/router

fleet-bundle: wheels ## Write build/wirespeed-bundle.tar.gz for sites without network: wheels, SHA256SUMS, install.sh
	setup/fleet-bundle.sh $(BIN)/python build/wirespeed-bundle.tar.gz $(PACKAGES)/wheels

dataplane-debian13: requirements-debian13
	setup/debian13.sh short make dataplane-guest

# wirespeed-native holds wsdp for DPDK 22.11 and 24.11.
wheels: $(VENV)/.run dataplane-guest $(if $(IS_DEBIAN12),dataplane-debian13) ## Write build/packages/wheels: wirespeed and wirespeed-native
	setup/wheels.sh $(BIN)/python $(PACKAGES)/wheels $(GUEST_DATAPLANE)/wsdp \
		$(if $(IS_DEBIAN12),$(DEBIAN13)/dataplane-guest/wsdp)

packages-deb: $(VENV)/.dev wheels speedtest requirements-deb ## Write build/packages/*.deb: wirespeed and wirespeed-speedtest
	setup/deb.sh $(BIN)/python $(PACKAGES)

packages-deb13: requirements-debian13 ## Write build/packages/debian13/*.deb, built in a root of Debian 13
	setup/debian13.sh deb make packages-deb
	rm -rf $(PACKAGES)/debian13
	mkdir -p $(PACKAGES)/debian13
	cp $(addprefix $(DEBIAN13)/packages/*.,deb changes buildinfo) $(PACKAGES)/debian13

container: packages-deb requirements-container ## Write build/packages/wirespeed.oci.tar, an image of the Debian packages
	setup/container.sh $(PACKAGES)

packages: container fleet-bundle bill-of-materials $(if $(IS_DEBIAN12),packages-deb13) ## Build every package: wheels, .deb, container, bundle

test-packages: export WIRESPEED_PACKAGES := whole
test-packages: $(VENV)/.dev container fleet-bundle $(if $(IS_DEBIAN12),packages-deb13) ## Install each package in a fresh root or environment, measure, upgrade, purge
	$(BIN)/pytest --durations=0 -s -m packages tests/packages

# The wheel alone, in a fresh environment.
test-packages-short: $(VENV)/.dev
	$(PYTEST) --durations=5 -m packages $(OR_NONE_SELECTED)

# The tests plant one text a leaf that differs in more than an index.
test-documents: setup-dev ## Every hostile text in every text of every kind of document: counts and hits
	$(BIN)/python -m benchmarks document_fuzz

test-lab: export WIRESPEED_LAB := whole
test-lab: $(VENV)/.dev guest-image host-image ## All tests in emulated servers, whole
	$(BIN)/pytest --durations=0 -m lab

# Two begin at different files; the first that is ready takes plans of the other.
test-openstack: export WIRESPEED_OPENSTACK := usual
test-openstack: $(VENV)/.dev requirements-openstack ## Plans executed by a real OpenStack with simulated hosts, and its faults
	$(BIN)/pytest --durations=0 -m openstack --numprocesses=2 --dist=worksteal tests/cloud

# One example by create.sh alone.
test-openstack-short: export WIRESPEED_OPENSTACK := short
test-openstack-short: $(VENV)/.dev requirements-openstack
	$(PYTEST) --durations=0 -m openstack $(OR_NONE_SELECTED)

# An emulated server runs Nova's compute: minutes on two CPUs, 6 GiB.
test-openstack-compute: export WIRESPEED_OPENSTACK := compute
test-openstack-compute: $(VENV)/.dev requirements-openstack compute-image ## A guest by a real nova-compute on an emulated server, compared with its plan
	$(BIN)/pytest --durations=0 -m openstack -s tests/cloud/true_compute

test-openstack-full: $(VENV)/.dev requirements-openstack ## The same with 100 random plans; goes on where it was cut
	$(BIN)/python -m tests.cloud 100
