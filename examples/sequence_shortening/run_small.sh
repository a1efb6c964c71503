#!/usr/bin/env bash
# This recipe on two CPU cores, from text to a table: runs the other scripts of this folder; see --help.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
[[ "${1:-}" == -* ]] || source "$here/../../scripts/environment.sh"
exec python3 "$here/../recipes.py" run-small sequence_shortening "$@"
