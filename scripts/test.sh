#!/usr/bin/env bash
# Linter, type checker and tests.   Usage: bash scripts/test.sh [--learning] [PYTEST ARGUMENTS]
#   --learning   also the slow tier: models that learn the demo corpus; of paths given, all tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

tiers=()
if [[ "${1:-}" == --learning ]]; then
    shift
    tiers=(-m "slow or not slow")
    [[ " $*" == *" tests"* ]] || tiers+=(tests/unit tests/integration tests/learning)
fi

ruff check .
ruff format --check .
mypy
# One thread for each of the two workers: torch's own threads would fight over the cores.
OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 python -m pytest -n 2 ${tiers[@]+"${tiers[@]}"} "$@"
