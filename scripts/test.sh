#!/usr/bin/env bash
# Linter, type checker and tests.   Usage: bash scripts/test.sh [--slow | --learning] [PYTEST ARGUMENTS]
#   --slow       the slow tier in their place: whole recipes, more cases of the same
#   --learning   the models that learn the demo corpus in their place: hours
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

tier=tests
case "${1:-}" in
    --slow) tier="slow tier" && shift && set -- -m slow "$@" ;;
    --learning)
        tier="learning tier" && shift
        [[ " $*" == *" tests"* ]] || set -- tests/learning "$@"
        set -- -m "slow or not slow" "$@"
        ;;
esac

SECONDS=0
if [[ $tier == tests ]]; then
    ruff check .
    ruff format --check .
    mypy
fi
# One thread for each of the two workers: torch's own threads would fight over the cores.
OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 python -m pytest -n 2 "$@"
echo "$tier: $((SECONDS / 60)) minutes $((SECONDS % 60)) seconds"
