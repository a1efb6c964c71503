#!/usr/bin/env bash
# The paper's few-shot settings: trains (see train.sh) and measures MTCUE and TAGGING on K examples each; see --help.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../recipes.py" few-shot mtcue "$@"
