# Two commands for newcomers: `make demo` and `make test`. Both set up all they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
TEST_WORKERS ?= auto
# Each worker has a part of the files, whose fixtures and kernels are made once; who is done first helps the other.
PYTEST = $(BIN)/python -m pytest -q -n $(TEST_WORKERS) --dist=worksteal

.PHONY: demo test test-all check lint bench docs browser clean

demo: $(VENV)/.ready
	$(BIN)/multibody demo

test: $(VENV)/.ready-test
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.ready-test
	$(PYTEST) --hypothesis-profile=all

# The viewer's tests in a real browser are skipped where there is none.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || \
		echo "chromium could not be installed: the tests of the viewer in a browser will be skipped"

# Lint, spelling, language, the site with its links; the tests run doctests, the examples of pages and the commands of README.md.
check: lint docs
	$(PYTEST) -m "not slow"

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python tools/language.py
	$(BIN)/python tools/summaries.py --clean
	$(BIN)/python tools/prose.py --clean
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(VENV)/.ready-test
	@failed=; for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; $(BIN)/python $$script || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "== a claim does not hold, or the script failed:$$failed"; exit 1; fi

docs: $(VENV)/.ready-docs
	$(BIN)/sphinx-build -W --keep-going -j auto -q -b html docs docs/_build/html
	$(BIN)/python tools/links.py
	$(BIN)/python tools/search.py

clean:
	rm -rf $(VENV) docs/_build build dist .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
ifdef UV
	$(UV) venv --python $(PYTHON) --seed $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

# $(1): the extra to install; [demo] is all that README.md and examples/ use. Each stamp is renewed when pyproject.toml changes.
define install
	$(if $(UV),VIRTUAL_ENV=$(VENV) $(UV) pip install -q -e ".$(1)",$(BIN)/python -m pip install -q --disable-pip-version-check -e ".$(1)")
	@touch $@
endef

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(call install,[demo])

$(VENV)/.ready-test: pyproject.toml | $(VENV)/bin/python
	$(call install,[test])

$(VENV)/.ready-docs: pyproject.toml | $(VENV)/bin/python
	$(call install,[docs])

$(VENV)/.ready-dev: pyproject.toml | $(VENV)/bin/python
	$(call install,[dev])
	@touch $(VENV)/.ready $(VENV)/.ready-test $(VENV)/.ready-docs
