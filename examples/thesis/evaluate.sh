#!/usr/bin/env bash
# A trained row as the paper evaluates it: prints and runs ctxmt evaluate; see --help and recipe.py.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../recipes.py" evaluate thesis "$@"
