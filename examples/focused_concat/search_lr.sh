#!/usr/bin/env bash
# One row with each of several learning rates, and the best of them (appendix A); see --help.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../recipes.py" search-lr focused_concat "$@"
