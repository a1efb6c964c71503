#!/usr/bin/env bash
# Text to the data folder of the sequence-shortening paper (section 5.1): 20,000 subwords for each language.
set -euo pipefail
: "${TARGET_LANG:=de}" "${PAPER_VOCAB_SIZE:=20000}" "${DICTIONARIES:=separate}"
source "$(dirname "${BASH_SOURCE[0]}")/../prepare.sh"
