# SPDX-License-Identifier: Apache-2.0
# Every target sets up what it needs: packages by name, a virtual environment, the data plane.

PYTHON ?= python3
VENV := .venv
NOVA_VENV := .venv-nova
BIN := $(VENV)/bin
DATAPLANE := build/dataplane
SANITIZED := build/dataplane-asan
C_FILES = $(shell git ls-files 'dataplane/*.c' 'dataplane/*.h')

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test lint format bench docs clean \
	packages packages-dev npm cargo dataplane dataplane-asan speedtest test-dataplane test-python \
	test-nova test-speedtest

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

setup: packages $(VENV)/.run dataplane ## Install packages, make .venv, build the data plane

demo: setup ## Measure a real OVS-DPDK and leave a report in out/
	$(BIN)/wirespeed run quickstart --html out/quickstart.html

test: test-dataplane test-speedtest test-nova test-python ## All tests: C (also under ASan and UBSan), Rust, Nova, Python, real OVS

lint: packages-dev cargo $(VENV)/.dev ## Formatting, types, import arrows, shell
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	clang-format --dry-run --Werror $(C_FILES)
	git ls-files '*.sh' .ci/run | xargs shellcheck
	$(BIN)/python setup/check_tree.py
	cd speedtest && cargo fmt --all --check && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings

format: setup-dev ## Rewrite Python and C in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	clang-format -i $(C_FILES)

bench: setup-dev ## Every figure the project claims, side by side in one run
	$(BIN)/python -m benchmarks

docs: setup-dev ## Regenerate the reference pages and check every link (out/docs)
	$(BIN)/python -m wirespeed.cli.reference docs/reference
	$(BIN)/mkdocs build --quiet --strict --site-dir out/docs

clean: ## Remove what the other targets built, and what a killed run left on this host
	[ ! -x $(BIN)/wirespeed ] || $(BIN)/wirespeed clean
	rm -rf build out speedtest/target .mypy_cache .ruff_cache .pytest_cache .hypothesis

setup-dev: setup packages-dev npm $(VENV)/.dev speedtest

packages:
	@setup/install-packages.sh setup/packages-run.txt

packages-dev:
	@setup/install-packages.sh setup/packages-run.txt setup/packages-dev.txt

npm:
	@command -v npm >/dev/null || setup/install-packages.sh setup/packages-npm.txt

cargo:
	@command -v cargo >/dev/null || setup/install-packages.sh setup/packages-rust.txt

$(BIN)/python: | packages
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,postgresql]'
	touch $@ $(VENV)/.run

$(DATAPLANE)/build.ninja: | packages
	meson setup --buildtype=release $(DATAPLANE) dataplane

$(SANITIZED)/build.ninja: | packages-dev
	meson setup --buildtype=debugoptimized -Db_sanitize=address,undefined $(SANITIZED) dataplane

dataplane: $(DATAPLANE)/build.ninja
	@ninja -C $(DATAPLANE) --quiet

dataplane-asan: $(SANITIZED)/build.ninja
	@ninja -C $(SANITIZED) --quiet

speedtest: cargo
	cd speedtest && cargo build --quiet --locked --release

$(NOVA_VENV)/.installed: pyproject.toml constraints-nova.txt | packages
	$(PYTHON) -m venv $(NOVA_VENV)
	$(NOVA_VENV)/bin/pip install --quiet --disable-pip-version-check -c constraints-nova.txt -e '.[nova]'
	touch $@

test-nova: $(NOVA_VENV)/.installed ## Our placement beside the real Nova library's
	$(NOVA_VENV)/bin/python -m pytest tests/nova_library

test-speedtest: cargo
	cd speedtest && cargo test --quiet --locked
	speedtest/fuzz/run.sh 3

test-dataplane: dataplane dataplane-asan
	meson test -C $(DATAPLANE) --print-errorlogs
	meson test -C $(SANITIZED) --print-errorlogs

test-python: setup-dev
	$(BIN)/pytest
