#!/usr/bin/env bash
# Evaluates a trained row of the thesis (section 6.3.8): the best checkpoint, beam 6, n = 0.6, the whole window decoded.
set -euo pipefail
: "${BEAM:=6}" "${LENPEN:=0.6}" "${DECODING:=window}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"
