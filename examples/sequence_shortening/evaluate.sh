#!/usr/bin/env bash
# Evaluates a trained row as the sequence-shortening paper does: the best checkpoint, beam 5 (table 4).
set -euo pipefail
: "${BEAM:=5}" "${LENPEN:=1}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"
