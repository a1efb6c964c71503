#!/usr/bin/env bash
# Text to the data folder of the focused-concatenation paper: 32,000 subwords for both languages together.
set -euo pipefail
: "${TARGET_LANG:=ru}"
source "$(dirname "${BASH_SOURCE[0]}")/../prepare.sh"
