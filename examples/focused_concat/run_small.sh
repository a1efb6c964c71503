#!/usr/bin/env bash
# The focused-concatenation recipe on two CPU cores and real text; see --help.
set -euo pipefail
export PAPER=focused_concat SMALL_SYSTEMS="base s2to2+shift+CD" SMOKE_SYSTEM="s2to2+shift+CD"
exec bash "$(dirname "${BASH_SOURCE[0]}")/../run_small.sh" "$@"
