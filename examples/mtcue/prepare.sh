#!/usr/bin/env bash
# Text and metadata to the data folder of MTCue (Vincent et al. 2023) and its context stores: MiniLM's vectors, and the
# discrete ones of the ablation.
set -euo pipefail
: "${TARGET_LANG:=de}" "${PAPER_VOCAB_SIZE:=32768}" "${ENCODERS=minilm discrete}"
source "$(dirname "${BASH_SOURCE[0]}")/../prepare.sh"
