#!/usr/bin/env bash
# Text to the data folder of this paper: prints and runs ctxmt preprocess and ctxmt embed; see --help and recipe.py.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../recipes.py" prepare sequence_shortening "$@"
