#!/usr/bin/env bash
# Runs the integration tests that show whether the plugin works with another fairseq than fairseq-fixed, in an
# environment of their own.
#   scripts/other_fairseq.sh FAIRSEQ ENVIRONMENT [TEST...]
# FAIRSEQ: a checkout of facebookresearch/fairseq, whose main branch (3d262bb) and v0.12.2 need Python 3.10
# ENVIRONMENT: a folder, which is made the first time (some 10 minutes) and used as it is later
# TEST: files or options for pytest (default: the files below, of which -m "slow or not slow" runs all tests)
#   PYTHON=python3.10   the interpreter to make it with
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
[[ $# -ge 2 ]] || { echo "usage: scripts/other_fairseq.sh FAIRSEQ ENVIRONMENT [TEST...]" >&2; exit 2; }
fairseq="$(cd "$1" && pwd -P)"
mkdir -p "$2"
environment="$(cd "$2" && pwd -P)"
shift 2
python="$environment/bin/python"
tests=("$@")
[[ ${#tests[@]} -gt 0 ]] || tests=(tests/integration/test_{fairseq_commands,fairseqs_architectures,hydra,translate,contrast,python_api,register,train_resume,distributed,hostile_checkpoints}.py)

cd "$root"
if [[ ! -f "$environment/complete" ]]; then
    "${PYTHON:-python3.10}" -m venv "$environment"
    # fairseq asks for hydra-core < 1.1 and omegaconf < 2.1, whose metadata a newer pip refuses.
    grep -vE '^(fairseq-fixed|hydra-core|omegaconf)=' constraints.txt > "$environment/constraints.txt"
    install=("$python" -m pip install --constraint "$environment/constraints.txt" --no-build-isolation)
    "${install[@]}" 'pip<24.1'
    "${install[@]}" torch numpy cython setuptools wheel
    "$python" - > "$environment/requirements.txt" << 'END'
from pip._vendor import tomli

with open("pyproject.toml", "rb") as file:
    project = tomli.load(file)["project"]
needed = project["dependencies"] + project["optional-dependencies"]["test"]
print(*(each for each in needed if not each.startswith("fairseq-fixed")), sep="\n")
END
    "${install[@]}" --requirement "$environment/requirements.txt"
    "${install[@]}" "$fairseq"
    touch "$environment/complete"
fi
printf '#!%s\nimport sys\nfrom ctxmt_fairseq.cli.main import main\nsys.exit(main())\n' "$python" > "$environment/bin/ctxmt"
chmod +x "$environment/bin/ctxmt"
echo "fairseq of $fairseq: $(git -C "$fairseq" describe --always --tags 2> /dev/null || echo no checkout)"
PYTHONPATH="$root" exec "$python" -m pytest -q -p no:warnings "${tests[@]}"
