# The whole vocabulary: plain `make` prints it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# pyo3 looks for the interpreter by itself; the same answer every time spares its rebuild.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export CARGO_TERM_COLOR ?= auto

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml') \
    python/goodqueue/sizing/calibrated/table.npz

# The stub of the compiled module must agree with it.
STUBS := goodqueue._core --mypy-config-file pyproject.toml --allowlist tools/stubtest-allowlist.txt

# In the directory of the extension, whose release builds of the crates it uses again.
BENCH := cargo run --locked --release --quiet --package goodqueue-bench --target-dir target/maturin

# Of each fuzz target.
SECONDS ?= 60
SEED ?= 1

.PHONY: help setup wheel notices wasm check test lint golden slow counts fuzz demo bench evidence conformance quinn docs site man lock clean
.DELETE_ON_ERROR:

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/.extension ## prepare everything: .venv/bin/goodqueue works after it

$(VENV)/.requirements: requirements.lock tools/check-prerequisites.sh
	@tools/check-prerequisites.sh $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the Python packages of requirements.lock into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@touch $@

# An own target directory: maturin's flags differ from a plain `cargo build`'s, and sharing one
# would rebuild the bindings at every alternation.
$(VENV)/.extension: $(VENV)/.requirements pyproject.toml $(RUST_SOURCES)
	@tools/check-prerequisites.sh $(PYTHON)
	@echo "building the extension (about a minute the first time)"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 $(BIN)/maturin develop --locked --release --quiet --target-dir target/maturin
	@touch $@

# A comparison of two files that did not change takes 20 s of processor time and finds nothing new.
$(VENV)/.stubs: $(VENV)/.extension python/goodqueue/_core.pyi tools/stubtest-allowlist.txt
	$(BIN)/stubtest $(STUBS)
	@touch $@

# The linker and the check of the wheel, with their own lock.
target/wheel-venv/.requirements: tools/wheel/requirements.lock
	@test -x target/wheel-venv/bin/python || $(PYTHON) -m venv target/wheel-venv
	@target/wheel-venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

wheel: wasm target/wheel-venv/.requirements ## build the released wheel and the static lab in target/wheel/dist, optimised by the profile of short runs
	@.venv/bin/python -m evidence fingerprints
	@tools/wheel/build.sh

notices: ## after a crate was added or updated: write the notices of the crates in the wheel again
	@tools/wheel/notices.sh NOTICES.txt

wasm: setup ## build the lab's engine for browsers, and its page as static files in target/site/lab
	@tools/wasm/build.sh
	@rm -rf target/site/lab && $(BIN)/goodqueue lab --save target/site/lab

# The Rust and the Python half run side by side; the output of each comes in one piece.
check: setup ## before a commit: format, lint, unit tests and the fast Python tests, in parallel
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target --keep-going check-rust check-python

.PHONY: check-rust check-python
check-rust:
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	cargo test --locked --quiet --lib --bins
	cargo test --locked --quiet --package goodqueue-scenario --test golden --test results_version

check-python: $(VENV)/.stubs
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/python -m evidence check
	$(BIN)/python -m pytest -q -m 'not slow' --numprocesses auto --dist loadfile

test: setup lint ## set up, then lint and run every test
	cargo test --locked --quiet
	$(BENCH) -- --counts
	$(BIN)/python -m evidence check
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile
	$(MAKE) --no-print-directory fuzz SECONDS=2

lint: setup ## formatting, clippy, ruff, mypy and stubtest
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest $(STUBS)
	@case "$$(tsc --version 2>/dev/null)" in \
	"Version 4."* | "Version 5."*) tsc --project tools/page && tsc --project tools/page/worker.json ;; \
	*) echo "SKIPPED: the types of the lab's page, because there is no tsc of version 4 or 5 (Debian: node-typescript)" ;; esac
	@if command -v biome >/dev/null; then biome lint --error-on-warnings --config-path=tools/page python/goodqueue/lab/page; else \
	    echo "SKIPPED: the linter of the lab's page, because there is no biome (npm install --global @biomejs/biome@2)"; fi

golden: ## after behaviour changed on purpose: write the tables of tests/golden again
	UPDATE_GOLDEN=1 cargo test --locked --quiet --package goodqueue-scenario --test golden

slow: setup ## after tests became slower or faster: measure tests/slow.txt again
	PYTHONPATH=tests $(BIN)/python -m pytest -q -p helpers.times --numprocesses auto --dist loadfile

counts: ## after the cost of a packet changed: count the instructions of crates/bench/instructions.txt again
	$(BENCH) -- --counts --update

fuzz: setup ## damaged files through every reader: make fuzz SECONDS=60 SEED=1
	cargo build --locked --quiet --package goodqueue-fuzz
	$(BIN)/python fuzz/run.py target/debug/goodqueue-fuzz $(SECONDS) $(SEED)

demo: setup ## reproduce a published study of bufferbloat, then size its buffer
	@$(BIN)/goodqueue demo

# The build with the profile of `make wheel`, if there is one. A profile names functions by paths and flags, so both
# builds need --target.
PROFILE := target/wheel/profile
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
bench: ## the native benchmark, beside ns-2 where it is installed: make bench HTSIM=program ARGS=--quick
ifneq ($(wildcard $(PROFILE)),)
	RUSTFLAGS=-Cprofile-use=$(CURDIR)/$(PROFILE) cargo build --locked --release --quiet --package goodqueue-bench \
	    --target $(HOST) --target-dir target/wheel/bench
endif
	cargo run --locked --release --quiet --package goodqueue-bench -- $(if $(HTSIM),--htsim $(HTSIM)) \
	    $(if $(wildcard $(PROFILE)),--profiled target/wheel/bench/$(HOST)/release/goodqueue-bench) $(ARGS)

evidence: setup ## list what was derived from runs; NAME=gallery makes it again, STALE=1 all that aged
	$(BIN)/python -m evidence $(if $(STALE)$(NAME),make $(NAME) $(if $(STALE),--stale),list)

conformance: ## run public TCP scripts: make conformance PACKETDRILL=folder-of-scripts
	@test -n "$(PACKETDRILL)" || { echo "usage: make conformance PACKETDRILL=folder-of-scripts"; exit 2; }
	cargo run --locked --quiet --package goodqueue-testkit --bin conformance -- $(PACKETDRILL)

# A workspace of its own, whose crates `make setup` does not fetch.
quinn: setup ## build and test the example with the QUIC stack quinn
	cd examples/quic && cargo build --locked --quiet --release && cargo test --locked --quiet --release
	GOODQUEUE_QUINN=1 $(BIN)/python -m pytest -q tests/characterization/test_stack.py

docs: ## the programming interface of the Rust crates, in target/doc
	cargo doc --locked --no-deps --quiet
	@echo "open target/doc/goodqueue_types/index.html"

# The generator has its own packages, so that `make setup` stays small.
SITE := target/site-build
SITE_BIN := target/site-venv/bin
target/site-venv/.requirements: tools/site/requirements.lock
	@test -x $(SITE_BIN)/python || $(PYTHON) -m venv target/site-venv
	@$(SITE_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# The engine of the lab in WebAssembly, from `make wasm`. Without it the site has no lab, because the page has nothing
# that computes.
LAB_ENGINE := python/goodqueue/lab/page/engine/goodqueue_wasm_bg.wasm
site: setup target/site-venv/.requirements ## the documentation and the lab as a site, in target/site
	@rm -rf $(SITE) && mkdir -p $(SITE)/source
	@cp tools/site/mkdocs.yml $(SITE)
	$(BIN)/python tools/site/stage.py $(SITE)/source $(if $(wildcard $(LAB_ENGINE)),--lab)
	PYTHONPATH=$(CURDIR)/python $(SITE_BIN)/zensical build --clean --strict --config-file $(SITE)/mkdocs.yml
ifneq ($(wildcard $(LAB_ENGINE)),)
	@$(BIN)/goodqueue lab --save $(SITE)/site/lab
endif
	@$(BIN)/python tools/site/check.py $(SITE)/site
	@rm -rf target/site && mv $(SITE)/site target/site && rm -r $(SITE)
	@echo "open target/site/index.html, or serve target/site by any web server"

man: setup ## manual pages of all commands, in target/man
	@rm -rf target/man
	@$(BIN)/python tools/site/man.py target/man
	@echo "read target/man/goodqueue.1 by man -l, or copy target/man to /usr/local/share/man/man1"

lock: ## choose the newest versions again and pin them in requirements.lock
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --upgrade --python-version 3.11 \
	    --custom-compile-command 'make lock' tools/site/requirements.in --output-file tools/site/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --upgrade --python-version 3.11 \
	    --custom-compile-command 'make lock' tools/wheel/requirements.in --output-file tools/wheel/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --upgrade --python-version 3.11 \
	    --custom-compile-command 'make lock' --extra dev pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --upgrade --python-version 3.11 \
	    --custom-compile-command 'make lock' --constraint requirements.lock tools/image/build.in \
	    --output-file tools/image/build.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --upgrade --python-version 3.11 \
	    --custom-compile-command 'make lock' --constraint requirements.lock --extra all pyproject.toml \
	    --output-file tools/image/requirements.lock

clean: ## remove what was built
	rm -rf target $(VENV) demo-out .mypy_cache .ruff_cache .pytest_cache
