# Two commands: `make demo` and `make test`. Each sets up what it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Processes that test side by side: one for each core, at most four. `make test JOBS=0`: in one.
JOBS ?= auto
# The tests start hundreds of processes, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-trainers check browser lock bench clean

demo: $(VENV)/.demo
	$(BIN)/fourscore demo

# The core's own tests have to cover it: to watch the others too would take twice their time.
test: check browser
	$(BIN)/python -m pytest tests/core --cov --cov-report=term
	$(BIN)/python -m pytest --ignore tests/core -n $(JOBS) --maxprocesses 4 --dist worksteal --durations 20

# The report is tested in a real browser. Where none can be installed, those tests say what to run.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium >/dev/null; } \
		|| echo "no browser: its tests are skipped; run: apt-get install chromium"

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/equivalence.py
	$(BIN)/python benchmarks/deadlines.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/trainers.py
	$(BIN)/python benchmarks/server.py
	$(BIN)/python benchmarks/dimensions.py
	$(BIN)/python benchmarks/executions.py
	$(BIN)/python benchmarks/paired.py
	$(BIN)/python benchmarks/calibration.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/attacks.py
	$(BIN)/python benchmarks/judging.py
	$(BIN)/python benchmarks/monitoring.py
	$(BIN)/python benchmarks/observing.py
	$(BIN)/python benchmarks/otlp.py
	$(BIN)/python benchmarks/evolution.py

# The real trainers, each generation in an environment of its own: minutes and gigabytes, so it is
# not part of `make test`. verl and OpenRLHF come without the GPU packages they name.
REAL := tests/integrations/real
TRAINERS := .venv-trainers

test-trainers: $(TRAINERS)-torch/.done $(TRAINERS)-verifiers-0.1/.done $(TRAINERS)-verifiers-0.4/.done
	HF_HUB_OFFLINE=1 $(TRAINERS)-torch/bin/python $(REAL)/run_trl.py
	$(TRAINERS)-torch/bin/python $(REAL)/run_verl.py
	$(TRAINERS)-torch/bin/python $(REAL)/run_openrlhf.py
	$(TRAINERS)-verifiers-0.1/bin/python $(REAL)/run_verifiers_rubric.py
	$(TRAINERS)-verifiers-0.4/bin/python $(REAL)/run_verifiers_task.py

$(TRAINERS)-torch/.done:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet torch==2.13.0
	$(@D)/bin/pip install --quiet trl==1.16.0 transformers==5.22.2
	$(@D)/bin/pip install --quiet ray tensordict omegaconf hydra-core codetiming orjson pandas aiohttp
	$(@D)/bin/pip install --quiet --no-deps verl==0.9.1 openrlhf==0.11.2
	$(@D)/bin/pip install --quiet --editable .
	touch $@

$(TRAINERS)-verifiers-0.1/.done $(TRAINERS)-verifiers-0.4/.done: $(TRAINERS)-verifiers-%/.done:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/pip install --quiet verifiers==$(if $(filter 0.1,$*),0.1.14,0.4.0)
	$(@D)/bin/pip install --quiet --editable .
	touch $@

# What the package runs with, at the versions of the lock file.
$(VENV)/.demo: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Fourscore needs Python 3.11 or newer; say PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

# And what checks and tests it.
$(VENV)/.test: $(VENV)/.demo requirements-dev.lock requirements-llama.lock
	$(PIP) install --require-hashes --requirement requirements-dev.lock
	$(PIP) install --require-hashes --no-deps --only-binary :all: --requirement requirements-llama.lock \
		|| echo "no llama.cpp for this platform: the tests with a real model are skipped"
	touch $@

# Resolve anew. The lock files name no index, only versions and hashes.
lock: $(VENV)/.test
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet \
		--upgrade --no-strip-extras --no-emit-index-url --python-version 3.11 pyproject.toml \
		--group build --output-file requirements.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet \
		--upgrade --no-strip-extras --no-emit-index-url --python-version 3.11 pyproject.toml \
		--all-extras --group build --group dev --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) $(TRAINERS)-* build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
