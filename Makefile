SHELL  := /bin/bash
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
NATIVE := $(wildcard native/*) CMakeLists.txt
PIP     = $(BIN)/python -m pip --disable-pip-version-check install -q --progress-bar off
unexport PYTHONPATH PYTHONHOME

$(VENV)/.tools: pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "No '$(PYTHON)' on PATH: install Python 3.11 or newer, or name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' || { echo 'No ensurepip: apt-get install python3-venv' >&2; exit 1; }
	@command -v c++ >/dev/null || { echo 'A C++ compiler is needed: apt-get install g++' >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Setting up $(VENV) ..."
	@$(PIP) 'scikit-build-core>=1.1' 'nanobind>=3.1' cmake ninja
	@touch $@

$(VENV)/.run: $(VENV)/.tools $(NATIVE)
	@echo "Installing knuckle and its native kernel ..."
	@$(PIP) --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

.PHONY: demo test lint format bench figures docs clean
demo: $(VENV)/.run ## load, report, solve and hold a sample arm
	@$(BIN)/knuckle demo urdf_samples/sevenr_arm.urdf

test: $(VENV)/.dev ## the whole suite
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev ## lint, formatting, types
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## ratios against bare Pinocchio, measured now
	$(BIN)/python -m pytest benchmarks --benchmark-only $(PYTEST_ARGS)

figures: $(VENV)/.dev ## the page of the documentation with the ratios, measured now
	$(BIN)/python -m pytest benchmarks --benchmark-only --figures docs/ratios.md $(PYTEST_ARGS)

docs: $(VENV)/.docs ## the documentation, in build/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

$(VENV)/.docs: $(VENV)/.dev
	@$(PIP) --no-build-isolation -e '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build
