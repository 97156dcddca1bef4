# Two commands: `make demo` and `make test`. Each sets up what it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check lock bench clean

demo: $(VENV)/.demo
	$(BIN)/rubrica demo

test: check
	$(BIN)/python -m pytest --cov --cov-report=term

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	$(BIN)/python benchmarks/speed.py

# What the package runs with, at the versions of the lock file.
$(VENV)/.demo: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Rubrica needs Python 3.11 or newer; say PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

# And what checks and tests it.
$(VENV)/.test: $(VENV)/.demo requirements-dev.lock
	$(PIP) install --require-hashes --requirement requirements-dev.lock
	touch $@

# Resolve anew. The lock files name no index, only versions and hashes.
lock: $(VENV)/.test
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet \
		--upgrade --no-emit-index-url --python-version 3.11 pyproject.toml \
		--group build --output-file requirements.lock
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet \
		--upgrade --no-emit-index-url --python-version 3.11 pyproject.toml \
		--all-extras --group build --group dev --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
