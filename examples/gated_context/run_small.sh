#!/usr/bin/env bash
# The recipe of Voita et al. 2018 on two CPU cores and real text; see --help.
set -euo pipefail
export PAPER=gated_context SMALL_SYSTEMS="baseline concatenation previous next" SMOKE_SYSTEM="previous"
export CONTEXTS="${CONTEXTS:-trained random empty absent}"
exec bash "$(dirname "${BASH_SOURCE[0]}")/../run_small.sh" "$@"
