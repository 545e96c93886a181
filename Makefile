# `make ask` needs the core only (no torch, about 20 s the first time); `make test` also the encoder and the dev tools.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Exported unexpanded, so that a question may contain quotes and dollars.
export QUESTION := $(value Q)

.PHONY: help ask test lint types unit bench docs schema clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 10

ask: $(VENV)/.core ## answer one question: make ask Q="who directed titanic?"
	@test -n "$$QUESTION" || { echo 'Say what to ask: make ask Q="who directed titanic?"' >&2; exit 2; }
	@$(BIN)/kgq ask -- "$$QUESTION"

test: lint types unit ## all checks: style, layers, types, tests

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

unit: $(VENV)/.dev
	$(BIN)/pytest

bench: $(VENV)/.dev ## measure speed (benchmarks/README.md says what)
	$(BIN)/python -m benchmarks

docs: $(VENV)/.dev ## write the generated parts of README.md and docs/ anew; look at the diff
	$(BIN)/python docs/generate.py

schema: $(VENV)/.dev ## write schemas/domain.schema.json anew, after a change in kg/load/__init__.py
	$(BIN)/python -c 'import json, kg.load; print(json.dumps(kg.load.json_schema(), indent=2))' > schemas/domain.schema.json

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV)

# .dev contains .core, so whoever has run the tests does not install again to ask.
$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo 'Installing into $(VENV) ...' >&2
	@$(PIP) --editable . && touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo 'Installing into $(VENV), with the encoder and the test tools ...' >&2
	@$(PIP) --editable '.[encoder,serve,dev]' && touch $(VENV)/.core $@
