# Everything a person or CI does with this repository. `make` alone lists it.

VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(VENV)/.core-installed
DEV    := $(VENV)/.dev-installed
PYTEST := $(BIN)/pytest
INPUTS := pyproject.toml constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv demo test test-cluster format coverage tables bench soak clean \
        lint lint-format lint-code lint-types lint-layers lint-policies

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	@for python in python3.11 python3; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    exec "$$python" -m venv --clear $(VENV); \
	  fi; \
	done; echo "error: Tidegate needs Python 3.11 or newer; found neither python3.11 nor a python3 that is" >&2; exit 1

$(CORE): $(INPUTS) | $(BIN)/python
	$(BIN)/pip install --quiet -c constraints.txt -e .
	@touch $@

$(DEV): $(INPUTS) | $(BIN)/python
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev,lsp,speed]'
	@touch $@ $(CORE)

venv: $(DEV)  ## make .venv with everything a developer needs

demo: $(CORE)  ## show queues at work, without a cluster
	@if [ -t 1 ]; then exec $(BIN)/tidegate demo; else exec $(BIN)/tidegate demo --once; fi

test: $(DEV)  ## the fast tests (minutes, no cluster)
	$(PYTEST) -m "not cluster and not soak and not bench"

test-cluster: $(DEV)  ## the tests against a real API server (needs Go or KUBEBUILDER_ASSETS)
	@if ! command -v go >/dev/null && [ -z "$${KUBEBUILDER_ASSETS:-}" ]; then \
	  echo "skipped: the tests against a real API server need Go, or KUBEBUILDER_ASSETS"; exit 0; \
	fi; \
	$(BIN)/python tests/cluster/build.py && \
	{ TIDEGATE_REQUIRE_CLUSTER=1 $(PYTEST) -m cluster || { code=$$?; [ $$code -eq 5 ] && echo "no test is marked cluster" || exit $$code; }; }

lint: lint-format lint-code lint-types lint-layers lint-policies  ## everything that is checked without running the code

lint-format: $(DEV)
	$(BIN)/ruff format --check
lint-code: $(DEV)
	$(BIN)/ruff check
lint-types: $(DEV)
	$(BIN)/mypy
lint-layers: $(DEV)
	$(BIN)/lint-imports --no-logo
lint-policies: $(DEV)
	$(BIN)/tidegate fmt --check policies
	$(BIN)/tidegate lint policies/examples
	$(BIN)/tidegate test --min-coverage 100 policies/examples
	for file in policies/reference/*.tide; do \
	  $(BIN)/tidegate lint $$file && $(BIN)/tidegate test --allow-no-tests $$file || exit 1; \
	done

format: $(DEV)  ## put the code into the form that lint asks for
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

coverage: $(DEV)  ## the fast tests, with the lines they miss
	$(PYTEST) -m "not cluster and not soak and not bench" --cov --cov-report=term-missing

tables: $(DEV)  ## the parser's tables anew, after a change of the grammar
	PYTHONPATH=. $(BIN)/python tests/language/grammar_tables.py

bench: $(DEV)  ## figures: throughput of the webhook, time of a plan
	$(PYTEST) -m bench -s --timeout=600 tests/benchmarks/*.py

soak: $(DEV)  ## long runs, outside CI
	$(PYTEST) -m soak -s --timeout=0

clean:  ## remove what was built here, .venv included
	rm -rf $(VENV) build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache *.egg-info
	find webhook tests -name __pycache__ -type d -prune -exec rm -rf {} +
