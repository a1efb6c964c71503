#!/usr/bin/env bash
# Evaluates a trained row of MTCue: the best checkpoint, fairseq's search (beam 5).
set -euo pipefail
: "${BEAM:=5}" "${LENPEN:=1}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"
