# `make demo` and `make test` work from a bare clone: they make their own environment in .venv first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := kdenv baselines tests examples docs

.PHONY: demo test test-quick test-cold test-slow lint format types docs package bench reproduce-quick clean

# A match of search against learned and rule-based policies: a table with intervals, and a page to look at.
demo: $(VENV)/.installed
	$(BIN)/kdenv match kingdomino \
		"mce(playout=full_greedy, score=goal, sampling=halving, common=yes, prior=learned(kingdomino), widest=12, playouts=100)" "learned(kingdomino)" "ppo(kingdomino-ppo)" full_greedy \
		--games 60 --seed 1 --report report/match.html

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

# Python's own compiled files are kept: tests start hundreds of processes, and each would parse the package anew.
unexport PYTHONDONTWRITEBYTECODE

test: $(VENV)/.installed-dev
	$(PYTEST)

# The tests that took less than a fifth of a second in the quickest run so far. About a minute, once `make test` has compiled everything.
test-quick: $(VENV)/.installed-dev
	$(PYTEST) --quick

# Only the tests that are cold on purpose: they start processes, some of them on an empty cache, or compile what no other test needs.
test-cold: $(VENV)/.installed-dev
	$(PYTEST) --cold -m cold

# Everything, with the long statistics.
test-slow: $(VENV)/.installed-dev
	$(PYTEST) --cold --slow

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check --quiet $(SOURCES)

format: $(VENV)/.installed-dev
	$(BIN)/ruff format $(SOURCES)

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# The site, in docs/_build. A link or a reference that leads nowhere is an error.
docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env docs docs/_build
	@echo "the site is in docs/_build/index.html"

# The wheel and the source package, in dist, with what PyPI would complain about.
package: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist

# Every paper with few games, from nothing: the numbers, their intervals and verdicts, the figures, and the page reproduced/RESULTS.md.
reproduce-quick: $(VENV)/.installed-dev
	$(BIN)/kdenv reproduce --quick --out reproduced

bench: $(VENV)/.installed-dev
	$(BIN)/kdenv bench

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	touch $@

# torch first and pinned: left to itself pip would fetch a build for graphics cards, gigabytes of it.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --constraint constraints.txt torch
	$(PIP) install --constraint constraints.txt --editable ".[rl,render,serve,docs,dev]"
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) report reproduced
