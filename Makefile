# Two commands on a fresh machine (Python 3.11+ and make): `make demo` and `make test`. Each fills .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The demo needs Phoenix only; the tests need everything.
DEMO_READY := $(VENV)/.demo-ready
DEV_READY := $(VENV)/.dev-ready

.DEFAULT_GOAL := help
.PHONY: help demo demo-check test lint unit train bench bench-long screenshots clean

help:  ## Show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rag-otel needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing rag-otel and Phoenix into $(VENV) (a few minutes, once) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[phoenix]'
	@touch $@

$(DEV_READY): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing rag-otel and everything its tests need into $(VENV) (a few minutes, once) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@# litellm's bound on certifi is ahead of what package indexes carry today; its other requirements come with dev.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps litellm
	@touch $(DEMO_READY) $@

demo: $(DEMO_READY)  ## Run the demo app over real data, open Phoenix on the result
	$(BIN)/rag-otel demo

demo-check: $(DEMO_READY)  ## The same, verified through Phoenix's API, then stopped
	$(BIN)/rag-otel demo --check

screenshots: $(DEV_READY)  ## The README's pictures, from the Phoenix that `make demo` has left open
	$(BIN)/python docs/screenshots.py

test: lint unit  ## All checks and tests

lint: $(DEV_READY)  ## ruff, strict mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(DEV_READY)  ## The tests alone
	@# What fails on two busy cores, beside whatever instrumentation another test left patched, gets one more try alone.
	$(BIN)/python -m pytest -n 2 --dist loadfile || \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures none

train: $(DEV_READY)  ## Train the embedded judge; reproduces the shipped coefficients to the byte
	$(BIN)/python -m rag_otel_evaluators.judges.embedded.training.train

bench: $(DEV_READY)  ## The figures of the README; each script says how long it took
	$(BIN)/python benchmarks/run_all.py

bench-long: $(DEV_READY)  ## The collector's worst cases at full size: about half an hour
	$(BIN)/python benchmarks/run_all.py --long

clean:  ## Remove what the targets above made
	rm -rf $(VENV) .demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
