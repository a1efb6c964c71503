#!/usr/bin/env bash
# MTCue's few-shot settings (section 3.2, figure 4): the same training text throughout, its attributes known for K
# examples of each combination of their values; accuracy against K.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
source "$here/../recipe.sh"

: "${ATTRIBUTES:=}" "${SENTENCES:=}" "${COUNTS:=0,1,5,30,300,3000,30000,all}" "${SYSTEMS:=MTCUE TAGGING}"
: "${ENCODER:=minilm}" "${SEED:=1}"

usage() {
    cat << END
Usage: few_shot.sh TRAIN VALID SET DATA RUNS OUT --attributes NAMES [OPTIONS] [-- OPTIONS OF fairseq-train]
TRAIN and VALID are prefixes of annotated text (TRAIN.SRC, TRAIN.TGT and its metadata), SET is what ctxmt control
attributes reads. DATA is the data folder of RUNS/MTCUE and RUNS/BASE-PM, from which training starts, and which are
evaluated for K = 0. Every line is a document of its own: attributes are the only context. All results: OUT/SYSTEM-K.json,
OUT/few-shot.png. A finished training is not repeated; the options of train.sh come from the environment (GPUS=4 ...).
  --attributes NAMES   fields of the metadata, joined by commas
  --sentences FILE     JSON, attribute -> value -> the sentence for it, see ctxmt control few-shot (default: ${SENTENCES:-none})
  --counts K,K         examples per combination; 0, the paper's zero-shot; all (default: $COUNTS)
  --systems "NAME..."  MTCUE, TAGGING (default: $SYSTEMS)
  --encoder NAME       that of DATA/contexts (default: $ENCODER)
  --seed N             of the draw and of the training (default: $SEED)
END
}

# unless_dry COMMAND...: a dry run prints the training commands only.
unless_dry() {
    [[ -n "${DRY_RUN:-}" ]] || "$@"
}

# lines_as_documents PREFIX NAME: links to the text as OUT/text/NAME, with a document id for every line.
lines_as_documents() {
    local folder file
    folder="$(cd "$(dirname "$1")" && pwd -P)"
    [[ -n "$(compgen -G "$1.meta.*")" ]] || die "$1.meta.jsonl: no such file; expected the annotated text's metadata"
    for file in "$1".*; do
        [[ "$file" == "$1.docids" ]] || ln -sf "$folder/$(basename "$file")" "$out/text/$2.${file#"$1".}"
    done
    awk '{ print NR }' "$1.$SOURCE_LANG" > "$out/text/$2.docids"
}

# The metadata of all settings, and a data folder that serves them all.
prepare() {
    mkdir -p "$out/text"
    lines_as_documents "$train" train
    lines_as_documents "$valid" valid
    local annotations=(--attributes "$ATTRIBUTES" --seed "$SEED" ${sentences[@]+"${sentences[@]}"})
    [[ -d "$out/settings" ]] ||
        ctxmt control few-shot "$out/text/train" "${annotations[@]}" --counts "$COUNTS" --out "$out/settings"
    [[ -d "$out/valid" ]] ||
        ctxmt control few-shot "$out/text/valid" "${annotations[@]}" --counts all --out "$out/valid"
    [[ -d "$out/data" ]] ||
        ctxmt preprocess --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --like "$data" \
            --train "$out/text/train" --valid "$out/text/valid" --out "$out/data"
}

# start SYSTEM: the run that its training starts from.
start() {
    case "$1" in
        MTCUE) echo "$runs/MTCUE" ;;
        TAGGING) echo "$runs/BASE-PM" ;;
        *) die "--systems $1: expected MTCUE or TAGGING" ;;
    esac
}

# train SYSTEM K: OUT/SYSTEM-K
train() {
    local run="$out/$1-$2" store="$out/contexts-$2" options=(--current-vector no)
    [[ "$1" != MTCUE ]] || options+=(--source-context 0 --farthest-context 5) # 5: as in RUNS/MTCUE
    [[ ! -f "$run/finished" ]] || return 0
    unless_dry ctxmt embed "$out/data" --train "$out/settings/$2/train" --valid "$out/valid/all/valid" --no-sentences \
        --encoder "$ENCODER" --out "$store"
    bash "$here/train.sh" "$1" "$out/data" "$run" --store "$store" --start-from "$(start "$1")" --seed "$SEED" \
        -- "${options[@]}" ${EXTRA[@]+"${EXTRA[@]}"}
    unless_dry touch "$run/finished"
}

parse_options "attributes sentences counts systems encoder seed" "$@"
((${#ARGUMENTS[@]} == 6)) || die "expected TRAIN VALID SET DATA RUNS OUT; see --help"
train="${ARGUMENTS[0]}" valid="${ARGUMENTS[1]}" set="${ARGUMENTS[2]}"
data="${ARGUMENTS[3]}" runs="${ARGUMENTS[4]}" out="${ARGUMENTS[5]}"
[[ -n "$ATTRIBUTES" ]] || die "--attributes: expected fields of the metadata of $train"
for system in $SYSTEMS; do
    start "$system" > /dev/null
done
commands ctxmt python
sentences=() device=()
[[ -z "$SENTENCES" ]] || sentences=(--sentences "$SENTENCES")
[[ "${GPUS:-}" != 0 ]] || device=(--cpu)

if [[ -z "${DRY_RUN:-}" ]]; then
    read_languages "$data"
    prepare
fi
results=()
for system in $SYSTEMS; do
    for count in ${COUNTS//,/ }; do
        run="$out/$system-$count"
        if [[ "$count" == 0 ]]; then
            run="$(start "$system")"
        else
            train "$system" "$count"
        fi
        results+=("$out/$system-$count.json")
        unless_dry ctxmt control attributes "$run/checkpoints/checkpoint_best.pt" "$set" --data "$out/data" \
            ${sentences[@]+"${sentences[@]}"} --setting "$out/settings/$count/setting.json" --system "$system" \
            --json "$out/$system-$count.json" ${device[@]+"${device[@]}"}
    done
done
unless_dry ctxmt control plot "${results[@]}" --out "$out/few-shot.png"
