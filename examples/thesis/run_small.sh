#!/usr/bin/env bash
# The thesis' recipe on two CPU cores and real text; see --help.
set -euo pipefail
export PAPER=thesis SMOKE_SYSTEM="CE+gate"
export SMALL_SYSTEMS="src0tgt0_to_tgt0 src1tgt0_to_tgt0 DE DE+shared+token CE+gate+pretrain+freeze Voita"
export CONTEXTS="${CONTEXTS:-trained random empty absent}"
exec bash "$(dirname "${BASH_SOURCE[0]}")/../run_small.sh" "$@"
