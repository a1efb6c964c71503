#!/usr/bin/env bash
# Evaluates a trained row: averaging, translation, contrastive suites. A paper's evaluate.sh sets its own defaults.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
source "$here/recipe.sh"

: "${OUT:=RUN/evaluation}" "${AVERAGE:=1}" "${BEAM:=5}" "${LENPEN:=1}" "${DEV:=}" "${DECODING:=prefix}"
: "${LENPENS:=$(LC_ALL=C seq -s ' ' 0.4 0.1 3.0)}"
: "${CONTEXTS:=trained}" "${WINDOW:=trained}" "${KEEP_SENTENCE:=trained}" "${TARGET_CONTEXT_FROM:=own}"
: "${LOWERCASE:=no}" "${TOKENIZE:=13a}" "${BOOTSTRAP:=0}" "${MAX_LEN_A:=0}" "${MAX_LEN_B:=200}"
: "${DOCUMENTS:=}" "${CONVENTION:=suite}" "${DEVICE:=auto}"
: "${RANDOM_CONTEXT:=random}" # what the paper's random context is, as --context-selection of ctxmt

usage() {
    cat << END
Usage: evaluate.sh DATA RUN TEXT [SUITE...] [OPTIONS] [-- OPTIONS OF ctxmt translate]
RUN is train.sh's OUT, DATA its data folder, TEXT the prefix of the test text (TEXT.SRC, TEXT.TGT, TEXT.docids and, where
lines serve as context only, TEXT.current; for models that read metadata, TEXT.meta.jsonl or TEXT.meta.FIELD), each SUITE
a contrastive set.
All results: OUT/results.json, and a table.
  --out DIR             (default: $OUT)
  --average N           checkpoints nearest the best to average, 1: the best alone (default: $AVERAGE)
  --beam N, --lenpen X  (default: $BEAM, $LENPEN); --lenpen opt: the best of --lenpens on --dev, by BLEU
  --lenpens "X...", --dev PREFIX  numbers and text for opt (default: 0.4 0.5 .. 3.0)
  --max-len-a X, --max-len-b N  a sentence has at most X times its source's tokens plus N (default: $MAX_LEN_A, $MAX_LEN_B)
  --contexts "NAME..."  trained (the context that it was trained with), random (by --context-selection $RANDOM_CONTEXT), empty
                        (an empty sentence), absent (none) ...: one translation for each (default: "$CONTEXTS")
  --decoding "NAME..."  with target context. window: decode the whole target window and keep one sentence;
                        prefix: force the earlier translations (default: "$DECODING")
  --target-context-from own|reference|RUN  own translations, the references, or those of the model RUN (default: $TARGET_CONTEXT_FROM)
  --keep-sentence first keep a window's first sentence, score it against the previous reference (default: $KEEP_SENTENCE)
  --window K            windows of K sentences instead of the trained size, on the sides that had context in training;
                        results are named NAME.wK (default: $WINDOW)
  --lowercase yes|no    BLEU ignores case; with lower-cased DATA it always does (default: $LOWERCASE)
  --tokenize NAME       BLEU's tokenizer; none for text that is tokenized (default: $TOKENIZE)
  --bootstrap N         samples for BLEU's interval (default: $BOOTSTRAP: no interval)
  --convention NAME     what is compared of contrastive sets' candidates: sum-current, mean-current, sum-window or
                        mean-window log-probabilities; suite: each suite's own (default: $CONVENTION)
  --documents DIR       ContraPro's context documents
  --device auto|cpu     (default: $DEVICE)
END
}

# average RUN OUTPUT
average() {
    ctxmt average "$1/checkpoints" --count "$AVERAGE" --output "$2"
}

# translate MODEL TEXT OUTPUT OPTION...
translate() {
    local model="$1" text="$2" output="$3"
    shift 3
    [[ ! -f "$text.current" ]] || set -- --current "$text.current" "$@"
    ctxmt translate "$model" "$text.$SOURCE_LANG" --docids "$text.docids" --output "$output" \
        --beam "$BEAM" --max-len-a "$MAX_LEN_A" --max-len-b "$MAX_LEN_B" "${device[@]}" "$@"
}

# reads_metadata MODEL TEXT: "yes" if the model reads metadata and TEXT has some.
reads_metadata() {
    [[ -n "$(compgen -G "$2.meta.*")" ]] || return 0
    python - "$@" << 'END'
import sys
from pathlib import Path

from ctxmt_fairseq.data.metadata_files import MetadataFiles
from ctxmt_fairseq.fairseq_fixes import peek

reads = peek(Path(sys.argv[1]))["cfg"]["task"]["_name"] == "metadata_context"
if reads and MetadataFiles.beside(sys.argv[2]):
    print("yes")
END
}

# window_options MODEL -> the array OVERRIDES: windows of WINDOW sentences, on the sides that MODEL was trained with.
window_options() {
    local names
    names="$(python - "$1" << 'END'
import sys
from pathlib import Path

from ctxmt_fairseq.fairseq_fixes import peek
from ctxmt_fairseq.tasks.context_options import DEFAULTS, saved_options

trained = saved_options(peek(Path(sys.argv[1])).get("task_state"), DEFAULTS)
print(*("--" + name.replace("_", "-") for name in ("source_context", "target_context") if trained.get(name)))
END
    )"
    [[ -n "$names" ]] || die "--window $WINDOW: expected a model that was trained with previous sentences"
    local name
    for name in $names; do OVERRIDES+=("$name" $((WINDOW - 1))); done
}

# contrast SUITE...: OUT/SUITE+...contrast.json and .examples.jsonl
contrast() {
    local name="" suite
    for suite; do
        suite="$(basename "$suite")"
        name+="${name:++}${suite%.json*}"
    done
    name="$OUT/$name$tag"
    ctxmt contrast "$model" "$@" --json "$name.contrast.json" --examples "$name.examples.jsonl" "${device[@]}" \
        ${convention[@]+"${convention[@]}"} ${OVERRIDES[@]+"${OVERRIDES[@]}"} ${DOCUMENTS:+--documents "$DOCUMENTS"}
}

# target_context TEXT FOLDER -> the array GIVEN: where the previous target sentences come from.
target_context() {
    GIVEN=()
    case "$TARGET_CONTEXT_FROM" in
        own) ;;
        reference) GIVEN=(--target-context-from "$1.$TARGET_LANG") ;;
        *)
            GIVEN=(--target-context-from "$2/first-pass.hyp")
            average "$TARGET_CONTEXT_FROM" "$2/first-pass.pt"
            translate "$2/first-pass.pt" "$1" "$2/first-pass.hyp" --lenpen "${LENPEN/opt/0.6}"
            ;;
    esac
}

# shift_references TEXT PREFIX: the first sentence of a window is the previous line. PREFIX.ref has every line's
# predecessor, PREFIX.current marks the lines that have one (and are not for context only).
shift_references() {
    local marks="$1.current"
    [[ -f "$marks" ]] || marks=/dev/null
    paste -d '\n' "$1.docids" "$1.$TARGET_LANG" | MARKS="$2.current" CURRENT="$marks" awk '
        NR % 2 { gsub(/^[[:space:]]+|[[:space:]]+$/, ""); first = (NR == 1 || $0 != id); id = $0; next }
        {
            mark = 1
            getline mark < ENVIRON["CURRENT"]
            print (first ? $0 : previous)
            print (first ? 0 : mark) > ENVIRON["MARKS"]
            previous = $0
        }' > "$2.ref"
}

# evaluate_on TEXT FOLDER NAME OPTION...: FOLDER/NAME.hyp and FOLDER/NAME.score.json
evaluate_on() {
    local text="$1" result="$2/$3" reference="$1.$TARGET_LANG" marks="$1.current"
    shift 3
    [[ "$KEEP_SENTENCE" == trained ]] || set -- --keep-sentence "$KEEP_SENTENCE" "$@"
    [[ "$WITH_METADATA" != *$'\n'"$text"$'\n'* ]] || set -- --contexts "$text" "$@"
    translate "$model" "$text" "$result.hyp" ${GIVEN[@]+"${GIVEN[@]}"} ${OVERRIDES[@]+"${OVERRIDES[@]}"} "$@" \
        ${EXTRA[@]+"${EXTRA[@]}"}
    if [[ "$KEEP_SENTENCE" == first ]]; then
        shift_references "$text" "$result"
        reference="$result.ref" marks="$result.current"
    fi
    local options=(--data "$data" --docids "$text.docids" --tokenize "$TOKENIZE" --bootstrap "$BOOTSTRAP")
    [[ "$LOWERCASE" != yes ]] || options+=(--lowercase)
    [[ ! -f "$marks" ]] || options+=(--current "$marks")
    ctxmt score "$result.hyp" "$reference" "${options[@]}" --json "$result.score.json"
}

# search_lenpen DECODING -> BEST: the length normalisation of LENPENS with the best BLEU on DEV.
search_lenpen() {
    local n folder="$OUT/dev.$1$tag"
    mkdir -p "$folder"
    target_context "$DEV" "$folder"
    for n in $LENPENS; do
        evaluate_on "$DEV" "$folder" "n$n" --decoding "$1" --lenpen "$n" > /dev/null
    done
    BEST="$(python - "$folder" << 'END'
import json
import sys
from pathlib import Path

bleu = {path.name: json.loads(path.read_text())["scores"][0]["score"] for path in Path(sys.argv[1]).glob("n*.score.json")}
print(max(bleu, key=bleu.get)[1:].removesuffix(".score.json"))
END
    )"
}

parse_options "out average beam lenpen lenpens dev max-len-a max-len-b contexts decoding target-context-from keep-sentence window \
lowercase tokenize bootstrap documents convention device" "$@"
((${#ARGUMENTS[@]} >= 3)) || die "expected DATA RUN TEXT; see --help"
data="${ARGUMENTS[0]}" run="${ARGUMENTS[1]}" text="${ARGUMENTS[2]}"
suites=("${ARGUMENTS[@]:3}")
[[ "$OUT" != RUN/evaluation ]] || OUT="$run/evaluation"
[[ "$LENPEN" != opt || -n "$DEV" ]] || die "--lenpen opt: expected --dev"
[[ "$CONVENTION" =~ ^(suite|(sum|mean)-(current|window))$ ]] ||
    die "--convention $CONVENTION: expected suite, sum-current, mean-current, sum-window or mean-window"
whole AVERAGE BEAM MAX_LEN_B BOOTSTRAP
[[ "$WINDOW" == trained ]] || { whole WINDOW && ((WINDOW > 0)) || die "--window 0: expected the sentences of a window, from 1"; }
commands ctxmt python
read_languages "$data"

device=(--data "$data")
[[ "$DEVICE" != cpu ]] || device+=(--cpu)
convention=()
[[ "$CONVENTION" == suite ]] || convention=(--reduction "${CONVENTION%-*}" --span "${CONVENTION#*-}")

mkdir -p "$OUT"
model="$OUT/averaged.pt"
average "$run" "$model"
OVERRIDES=() tag=""
if [[ "$WINDOW" != trained ]]; then
    window_options "$model"
    tag=".w$WINDOW"
fi
WITH_METADATA=$'\n' # a line for each text whose metadata the model reads
for prefix in "$text" ${DEV:+"$DEV"}; do
    reads="$(reads_metadata "$model" "$prefix")" # on its own, so that its failure is one
    [[ "$reads" != yes ]] || WITH_METADATA+="$prefix"$'\n'
done
for decoding in $DECODING; do
    n="$LENPEN" name="$decoding$tag"
    if [[ "$LENPEN" == opt ]]; then
        search_lenpen "$decoding"
        n="$BEST" name+=".n$BEST"
    fi
    target_context "$text" "$OUT"
    for context in $CONTEXTS; do
        if [[ "$context" == trained ]]; then
            evaluate_on "$text" "$OUT" "$name" --decoding "$decoding" --lenpen "$n"
        else
            evaluate_on "$text" "$OUT" "$name.$context" --decoding "$decoding" --lenpen "$n" \
                --context-selection "${context/#random/$RANDOM_CONTEXT}"
        fi
    done
done
consistency=() # the phenomena of Voita et al. (2019) together have one Disc.
for suite in ${suites[@]+"${suites[@]}"}; do
    case "$(basename "$suite")" in
        deixis*.json | lex_cohesion*.json | ellipsis_*.json) consistency+=("$suite") ;;
        *) contrast "$suite" ;;
    esac
done
((${#consistency[@]} == 0)) || contrast "${consistency[@]}"
python "$here/results.py" "$OUT"
