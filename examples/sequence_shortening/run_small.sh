#!/usr/bin/env bash
# The sequence-shortening recipe on two CPU cores and real text; see --help.
set -euo pipefail
export PAPER=sequence_shortening SMOKE_SYSTEM="grouping-2"
export SMALL_SYSTEMS="sentence-level single-encoder-1 multi-encoder-1 caching-tokens-1 avg-pooling-1 grouping-1 selecting-1"
exec bash "$(dirname "${BASH_SOURCE[0]}")/../run_small.sh" "$@"
