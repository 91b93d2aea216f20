# `make help` says what there is. Everything runs in .venv, which is made when it is first needed.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2
PYTEST = $(BIN)/pytest -n $(JOBS) --dist worksteal $(OPTIONS)
SECONDS ?= 3600
RECORD ?= build/torch-tests.json
# The second bindings package that is tested, and of which tests: every SAMPLE-th of each file.
BINDINGS ?= numba_cuda_mlir._mlir
SAMPLE ?= 16

.DEFAULT_GOAL := help
.PHONY: help example test test-all smoke lit slow test-bindings newest gpu-test torch-test plugin fuzz fuzz-ci lint docs wheel site clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

example: .venv/installed  ## compile examples/matmul.mlir to a cubin, and print what was chosen and why
	@mkdir -p build
	@$(BIN)/smem-compile examples/matmul.mlir --emit=cubin -o build/matmul.cubin --explain >build/matmul.txt 2>&1 \
		|| { cat build/matmul.txt; exit 1; }
	@grep -v '^  refused\|^  possible' build/matmul.txt
	@echo "all candidates: build/matmul.txt"

test: .venv/installed-test  ## the tests that need no GPU, but for slow cases
	$(PYTEST)

test-all: .venv/installed-dev  ## every case of them, those of JAX, IREE and numba-cuda-mlir included
	$(PYTEST) --tier=all --check-slow

smoke: .venv/installed-test  ## what a change of one line breaks most likely, in 30 seconds
	$(PYTEST) --tier=smoke

lit: .venv/installed-test  ## the lit tests alone
	$(BIN)/lit -sv -j $(JOBS) lit_tests

slow: .venv/installed-dev  ## measure every case, and write the table of slow ones (tests/tiers/slow.json)
	$(PYTEST) --tier=all --record-slow

test-bindings: .venv/installed-dev  ## a sample of the tests on another bindings package (BINDINGS)
	MLIR_SMEM_BINDINGS=$(BINDINGS) .ci/sample $(BIN) --sample=$(SAMPLE) -n $(JOBS)

newest:  ## the same on the newest bindings packages of the registry, in build/newest
	PYTHON=$(PYTHON) .ci/newest --sample=$(SAMPLE) -n $(JOBS)

gpu-test: .venv/installed-gpu  ## the tests on a GPU (sm_90)
	$(BIN)/pytest tests/gpu -n 8

torch-test: .venv/installed-dev  ## every test that needs PyTorch (pip install torch==2.13.0), with a record in RECORD
	$(BIN)/python tests/support/torch_tests.py --jobs $(JOBS) --record $(RECORD)

plugin: .venv/installed  ## build/plugin/libsmem.so, for mlir-opt-22 and other C++ tools (LLVM_CONFIG=...)
	$(MAKE) --no-print-directory -C tools/plugin BUILD=$(CURDIR)/build/plugin SMEM_OPT=$(CURDIR)/$(BIN)/smem-opt

fuzz: .venv/installed-dev  ## random inputs of every kind, for SECONDS (an hour) on all cores
	$(BIN)/python -m fuzz --seconds $(SECONDS)

fuzz-ci: .venv/installed-dev  ## the same for 10 seconds each, with a fresh seed
	$(BIN)/python -m fuzz --each 10 --jobs $(JOBS)

lint: .venv/installed-dev  ## the hooks of pre-commit (ruff, ends of files), pyright, and the import contracts
	$(BIN)/pre-commit run --all-files
	$(BIN)/pyright --pythonpath $(BIN)/python
	PYTHONPATH=tests/support $(BIN)/lint-imports --no-cache --no-logo

docs: .venv/installed  ## write the generated pages of docs/ anew from the code
	$(BIN)/python docs/reference.py > docs/reference.md
	$(BIN)/python docs/api/language.py > docs/api/language.md
	$(BIN)/python docs/faults.py > docs/faults.md
	$(BIN)/python docs/conformance.py > docs/conformance.md
	$(BIN)/python docs/mutants.py > docs/mutants.md
	$(BIN)/python docs/math_functions.py > docs/math_functions.md
	$(BIN)/python docs/package.py > docs/package.md
	$(BIN)/python docs/layouts.py > docs/layouts.md
	$(BIN)/python docs/layouts.py docs/figures
	$(BIN)/python docs/sessions.py docs/index.md docs/tutorial.md docs/language_tutorial.md docs/language.md docs/gemm.md docs/insert_sync.md docs/debugging.md docs/foreign-kernels.md docs/linalg.md docs/howto/*.md

wheel: .venv/installed-dev  ## the sdist and the wheel, in build/dist; the wheel is tried in an empty environment
	$(BIN)/python tests/support/try_wheel.py --keep build/dist

site: .venv/installed-docs  ## the documentation as a site, in build/site
	$(BIN)/sphinx-build -q -W --keep-going -n docs build/site

clean:  ## remove what was built
	rm -rf .venv build *.egg-info lit_tests/Output .pytest_cache .ruff_cache .hypothesis

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	@touch $@

.venv/installed-test: .venv/installed
	$(BIN)/pip install --quiet --editable '.[test]'
	@touch $@

.venv/installed-dev: .venv/installed-test
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/pip install --quiet --editable '.[docs]'
	@touch $@

.venv/installed-gpu: .venv/installed-dev
	$(BIN)/pip install --quiet --editable '.[dev,gpu]'
	@touch $@
