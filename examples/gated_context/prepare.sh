#!/usr/bin/env bash
# Downloads to the data folder of this paper: runs ctxmt corpus, preprocess and embed; see --help and recipe.py.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../recipes.py" prepare gated_context "$@"
