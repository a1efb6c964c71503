#!/usr/bin/env bash
# Trains a system once per learning rate and names the best by the loss on the validation set (appendix A).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
: "${LRS:=7e-4 9e-4 1e-3 3e-3}"

if [[ "${1:-}" == -h || "${1:-}" == --help || $# -lt 3 ]]; then
    cat << END
Usage: search_lr.sh SYSTEM DATA OUT [OPTIONS OF train.sh]
Trains OUT/lr-X for every learning rate X of LRS (default: "$LRS"), one after the other, and makes OUT/best a link to the
one with the best validation loss. To train them side by side, run train.sh with --lr on each machine first: finished
trainings are not repeated.
END
    [[ $# -eq 1 ]] && exit 0
    exit 2
fi
system="$1" data="$2" out="$3"
shift 3
read -r -a rates <<< "$LRS"
for lr in "${rates[@]}"; do
    if [[ ! -f "$out/lr-$lr/finished" ]]; then
        bash "$here/train.sh" "$system" "$data" "$out/lr-$lr" --lr "$lr" "$@"
        [[ -n "${DRY_RUN:-}" ]] || touch "$out/lr-$lr/finished"
    fi
done
[[ -z "${DRY_RUN:-}" ]] || exit 0
python - "$out" "${rates[@]}" << 'END'
import sys
from pathlib import Path

from ctxmt_fairseq.checkpoints import Checkpoint

out, rates = Path(sys.argv[1]), sys.argv[2:]
losses = {rate: Checkpoint.read(out / f"lr-{rate}" / "checkpoints" / "checkpoint_best.pt").score for rate in rates}
for rate, loss in losses.items():
    print(f"{rate:>6}  validation loss {loss:.4f}")
best = min(losses, key=losses.get)
(out / "best").unlink(missing_ok=True)
(out / "best").symlink_to(f"lr-{best}")
print(f"best: {out / 'best'} -> lr-{best}")
END
