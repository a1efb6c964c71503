# shellcheck shell=bash disable=SC2034 # many variables are set for the scripts that source this
# Sourced by every paper's train.sh: the options that all share, a batch of fixed size over any number of GPUs,
# fairseq-train on all of them. Before, train.sh sets
#   PROFILES   the array of "NAME LR BATCH_TOKENS WARMUP DROPOUT VALIDATE_EVERY MAX_UPDATE", the default first: the
#              values of the options that are left open; "small" is added here
# and may set defaults of options (: "${PATIENCE:=5}"), ADAM_EPS, STEP_TOKENS (at most so many tokens per GPU and step)
# and KEPT (how many checkpoints stay on the disk). It may change CRITERION later, and ends with train_row.
source "$(dirname "${BASH_SOURCE[0]}")/recipe.sh"

PROFILES+=("small 2e-3 4000 200 0.1 200 800")
: "${PROFILE:=${PROFILES[0]%% *}}" "${LR:=auto}" "${BATCH_TOKENS:=auto}" "${WARMUP:=auto}" "${DROPOUT:=auto}"
: "${VALIDATE_EVERY:=auto}" "${MAX_UPDATE:=auto}" "${PATIENCE:=10}" "${SEED:=1}"
: "${MAX_TOKENS:=auto}" "${GPUS:=auto}" "${NODES:=1}" "${PORT:=29500}" "${PRECISION:=auto}"
: "${ADAM_EPS:=1e-9}" "${STEP_TOKENS:=4000}"
TRAINING_OPTIONS="profile lr batch-tokens max-tokens warmup dropout patience validate-every max-update gpus nodes port \
precision seed"
CRITERION=label_smoothed_cross_entropy

# The part of --help that every train.sh ends with.
training_usage() {
    cat << END
Checkpoints come to OUT/checkpoints; an interrupted training goes on. DRY_RUN=1 prints the command only.
  --profile NAME      the values of the options that are auto; small: two layers of 128 units, for two CPU cores
                      (default: $PROFILE)
END
    {
        echo "NAME lr batch-tokens warmup dropout validate-every max-update"
        printf '%s\n' "${PROFILES[@]}"
    } | while read -r -a row; do printf '%22s%-14s%6s %13s %7s %8s %15s %11s\n' "" "${row[@]}"; done
    cat << END
  --lr X              maximum learning rate (default: $LR)
  --batch-tokens N    tokens per update on all GPUs together (default: $BATCH_TOKENS)
  --max-tokens N      tokens per GPU and step, must divide the batch (default: $MAX_TOKENS: the most up to $STEP_TOKENS that do)
  --warmup N          updates until the learning rate's maximum (default: $WARMUP)
  --dropout X         (default: $DROPOUT)
  --patience N        validations without a better loss until it ends (default: $PATIENCE)
  --validate-every N  updates between validations; 0: once per epoch (default: $VALIDATE_EVERY)
  --max-update N      0: no end but patience (default: $MAX_UPDATE)
  --gpus N            GPUs per machine, 0 for the CPU (default: $GPUS: all)
  --nodes N           machines; start this script on each with torchrun or srun, see ../README.md (default: $NODES)
  --port N            of the first machine, for srun (default: $PORT)
  --precision NAME    fp32, fp16, amp or bf16 (default: $PRECISION: fp16 on GPUs)
  --seed N            (default: $SEED)
END
}

# The values of the options that are auto, from the line of PROFILES.
use_profile() {
    local line name values names=""
    for line in "${PROFILES[@]}"; do
        read -r -a values <<< "$line"
        names+="${names:+, }${values[0]}"
        [[ "${values[0]}" == "$PROFILE" ]] || continue
        for name in PROFILE LR BATCH_TOKENS WARMUP DROPOUT VALIDATE_EVERY MAX_UPDATE; do
            [[ "${!name}" != auto ]] || printf -v "$name" %s "${values[0]}"
            values=("${values[@]:1}")
        done
        return
    done
    die "--profile $PROFILE: expected one of $names"
}

# ARCH_SIZE: the suffix of an architecture for this profile.
architecture_size() {
    ARCH_SIZE=base
    [[ "$PROFILE" != small ]] || ARCH_SIZE=tiny
}

# untied ARCH: the architecture of this profile for a vocabulary per language, which _base would share. Without a
# suffix it has fairseq's default dimensions, those of Transformer-base.
untied() {
    if [[ "$PROFILE" == small ]]; then echo "$1_tiny"; else echo "$1"; fi
}

# dimensions LAYERS WIDTH INNER HEADS -> the array DIMENSIONS, for profiles that have other ones than Transformer-base.
dimensions() {
    local side
    for side in encoder decoder; do
        DIMENSIONS+=("--$side-layers" "$1" "--$side-embed-dim" "$2" "--$side-ffn-embed-dim" "$3"
            "--$side-attention-heads" "$4")
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
# with WORKERS is BATCH_TOKENS, less a remainder of under a token per worker and step: the same training on one GPU
# and on many.
plan_batch() {
    local limit="$MAX_TOKENS"
    [[ "$limit" != auto ]] || MAX_TOKENS="$STEP_TOKENS"
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

# train_row DATA OUT FLAG...: fairseq-train with the options above, Adam and the inverse square root schedule of Vaswani
# et al. (2017); FLAGs, then the user's own, come last. Checkpoints in OUT/checkpoints, from where an interrupted
# training goes on, and the log in OUT/train.log.
train_row() {
    local data="$1" out="$2" kept
    shift 2
    whole WARMUP PATIENCE VALIDATE_EVERY MAX_UPDATE SEED
    kept="${KEPT:-$((PATIENCE + 3))}" # for an average with checkpoints around the best
    commands ctxmt fairseq-train
    plan_workers
    plan_batch
    local command=(fairseq-train "$data" --user-dir "$(ctxmt user-dir)" --save-dir "$out/checkpoints"
        --optimizer adam --adam-betas '(0.9, 0.98)' --adam-eps "$ADAM_EPS"
        --lr "$LR" --lr-scheduler inverse_sqrt --warmup-updates "$WARMUP"
        --criterion "$CRITERION" --label-smoothing 0.1 --dropout "$DROPOUT"
        --patience "$PATIENCE" --keep-last-epochs "$kept" --max-update "$MAX_UPDATE" --seed "$SEED"
        --save-interval-updates "$VALIDATE_EVERY" --keep-interval-updates "$kept"
        "${PARALLEL[@]}" --max-tokens "$MAX_TOKENS" --update-freq "$UPDATE_FREQ" --log-format simple
        "$@" ${EXTRA[@]+"${EXTRA[@]}"})
    if [[ -n "${DRY_RUN:-}" ]]; then
        printf '%q ' "${command[@]}" && echo
        return
    fi
    [[ -d "$data" ]] || die "$data: no such data folder; expected what prepare.sh makes"
    mkdir -p "$out"
    echo "workers x steps x tokens = $WORKERS x $UPDATE_FREQ x $MAX_TOKENS tokens per update" >&2
    "${command[@]}" 2>&1 | tee -a "$out/train.log" # fairseq's own --log-file lacks the progress lines
}
