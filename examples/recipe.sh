# shellcheck shell=bash disable=SC2034 # many variables are set for the scripts that source this
# Sourced by the recipes: their options, a batch of fixed size over any number of GPUs, fairseq-train on all of them.
# Every option --some-name VALUE can also come from the environment, as SOME_NAME=VALUE.

die() {
    echo "error: $*" >&2
    exit 2
}

# parse_options "lr max-tokens ..." "$@": --lr VALUE or --lr=VALUE sets LR. What is no option goes to the array
# ARGUMENTS, what follows a lone -- to EXTRA. --help calls usage, which shows the defaults.
parse_options() {
    local known=" $1 " name value
    shift
    ARGUMENTS=() EXTRA=()
    while (($#)); do
        case "$1" in
            -h | --help) usage && exit 0 ;;
            --) shift && EXTRA=("$@") && return ;;
            --*=*) name="${1%%=*}" value="${1#*=}" ;;
            --*)
                (($# > 1)) || die "$1: expected a value"
                name="$1" value="$2"
                shift
                ;;
            *) ARGUMENTS+=("$1") && shift && continue ;;
        esac
        shift
        [[ "$known" == *" ${name#--} "* ]] || die "$name: no such option; see --help"
        name="$(tr 'a-z-' 'A-Z_' <<< "${name#--}")"
        printf -v "$name" %s "$value"
    done
}

# whole NAME...: stop unless these variables hold whole numbers.
whole() {
    local name
    for name; do
        [[ "${!name}" =~ ^[0-9]+$ ]] || die "$name=${!name}: expected a whole number"
    done
}

# commands NAME...: stop unless they are installed.
commands() {
    local name
    for name; do
        type -P "$name" > /dev/null || die "$name not found: activate the environment that has ctxmt_fairseq (README)"
    done
}

# GPUS (auto, or per machine; 0: the CPU), NODES, PORT and PRECISION (auto, fp32, fp16, amp, bf16) -> WORKERS, and
# fairseq's flags for so many in the array PARALLEL. The processes are started by fairseq itself (one machine, or
# srun with one task per machine), by torchrun, or by srun with one task per GPU.
plan_workers() {
    [[ "$GPUS" != auto ]] || GPUS="$(python -c 'import torch; print(torch.cuda.device_count())')"
    whole GPUS NODES PORT
    ((NODES > 0)) || die "NODES=0: expected at least one machine"
    WORKERS=$((GPUS > 0 ? GPUS * NODES : 1))
    if [[ -n "${WORLD_SIZE:-}" && -n "${RANK:-}" ]]; then # torchrun
        ((GPUS == 0 || WORLD_SIZE == WORKERS)) ||
            die "torchrun starts $WORLD_SIZE processes, expected $NODES x $GPUS (--nodes, --gpus)"
        WORKERS="$WORLD_SIZE" # fairseq would count the GPUs of this machine instead
        PARALLEL=(--distributed-world-size "$WORKERS")
        ((GPUS > 0)) || PARALLEL+=(--cpu --distributed-rank "$RANK" --distributed-no-spawn --ddp-backend legacy_ddp
            --distributed-init-method env:// --distributed-backend gloo)
    elif ((NODES > 1)); then
        ((GPUS > 0)) || die "several machines without GPUs: expected torchrun"
        [[ -n "${SLURM_NODEID:-}" ]] || die "--nodes $NODES: expected to be started by torchrun or srun on every machine"
        PARALLEL=(--distributed-world-size "$WORKERS" --distributed-port "$PORT")
    else
        PARALLEL=(--distributed-world-size "$WORKERS")
        ((GPUS > 0)) || PARALLEL+=(--cpu)
    fi
    [[ "$PRECISION" != auto ]] || PRECISION=$( ((GPUS > 0)) && echo fp16 || echo fp32)
    case "$PRECISION" in
        fp32) ;;
        fp16 | amp | bf16) PARALLEL+=("--$PRECISION") ;;
        *) die "--precision $PRECISION: expected auto, fp32, fp16, amp or bf16" ;;
    esac
}

# BATCH_TOKENS, WORKERS and MAX_TOKENS (auto, or what fits on one worker) -> MAX_TOKENS and UPDATE_FREQ, whose product
# with WORKERS is BATCH_TOKENS, less a remainder of under a token per
# worker and step: the same training on one GPU and on many.
plan_batch() {
    local limit="$MAX_TOKENS"
    [[ "$limit" != auto ]] || MAX_TOKENS=4000
    whole BATCH_TOKENS MAX_TOKENS
    ((MAX_TOKENS > 0 && BATCH_TOKENS >= WORKERS)) ||
        die "MAX_TOKENS=$MAX_TOKENS, BATCH_TOKENS=$BATCH_TOKENS: expected at least one token per worker"
    UPDATE_FREQ=$((BATCH_TOKENS / (WORKERS * MAX_TOKENS)))
    ((UPDATE_FREQ > 0 && BATCH_TOKENS / (WORKERS * UPDATE_FREQ) == MAX_TOKENS)) ||
        UPDATE_FREQ=$(((BATCH_TOKENS + WORKERS * MAX_TOKENS - 1) / (WORKERS * MAX_TOKENS)))
    MAX_TOKENS=$((BATCH_TOKENS / (WORKERS * UPDATE_FREQ)))
    [[ "$limit" == auto || "$limit" == "$MAX_TOKENS" ]] ||
        die "--max-tokens $limit: $WORKERS workers do not divide $BATCH_TOKENS tokens into such steps; expected" \
            "--max-tokens $MAX_TOKENS (or auto)"
}

# train DATA OUT FLAG...: fairseq-train with this batch and these workers; checkpoints in OUT/checkpoints, from where an
# interrupted training goes on, and the log in OUT/train.log. With DRY_RUN=1 the command is only printed.
train() {
    local data="$1" out="$2"
    shift 2
    local command=(fairseq-train "$data" --user-dir "$(ctxmt user-dir)" --save-dir "$out/checkpoints"
        --task document_window "$@" "${PARALLEL[@]}" --max-tokens "$MAX_TOKENS" --update-freq "$UPDATE_FREQ"
        --log-format simple ${EXTRA[@]+"${EXTRA[@]}"})
    if [[ -n "${DRY_RUN:-}" ]]; then
        printf '%q ' "${command[@]}" && echo
        return
    fi
    [[ -d "$data" ]] || die "$data: no such data folder; expected what prepare.sh makes"
    mkdir -p "$out"
    echo "workers x steps x tokens = $WORKERS x $UPDATE_FREQ x $MAX_TOKENS tokens per update" >&2
    "${command[@]}" 2>&1 | tee -a "$out/train.log" # fairseq's own --log-file lacks the progress lines
}

# The optimiser of Vaswani et al. (2017) with LR as the learning rate's maximum, after WARMUP updates.
vaswani() {
    ADAM=(--optimizer adam --adam-betas '(0.9, 0.98)' --adam-eps 1e-9
        --lr "$LR" --lr-scheduler inverse_sqrt --warmup-updates "$WARMUP")
}

# read_languages DATA: SOURCE_LANG and TARGET_LANG of a data folder.
read_languages() {
    [[ -f "$1/ctxmt.json" ]] || die "$1/ctxmt.json: no such file; expected what ctxmt preprocess writes"
    local languages
    languages="$(python -c 'import json, sys
folder = json.load(open(sys.argv[1], encoding="utf-8"))
print(folder["source_lang"], folder["target_lang"])' "$1/ctxmt.json")"
    read -r SOURCE_LANG TARGET_LANG <<< "$languages"
}

# contrast MODEL OUT OPTION... -- SUITE...: scores contrastive sets into OUT/SUITE.contrast.json. ContraPro's context
# comes from the folder DOCUMENTS.
contrast() {
    local model="$1" out="$2" suite name
    shift 2
    local options=()
    while [[ "$1" != -- ]]; do
        options+=("$1") && shift
    done
    shift
    for suite; do
        name="$(basename "$suite" .json)"
        ctxmt contrast "$model" "$suite" --json "$out/$name.contrast.json" --examples "$out/$name.examples.jsonl" \
            ${options[@]+"${options[@]}"} ${DOCUMENTS:+--documents "$DOCUMENTS"}
    done
}
