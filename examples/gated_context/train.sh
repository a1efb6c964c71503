#!/usr/bin/env bash
# One row of the paper's tables: prints and runs fairseq-train on all GPUs there are; see --help and recipe.py.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../recipes.py" train gated_context "$@"
