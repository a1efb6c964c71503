"""Exit code 0 if this interpreter's environment has this checkout's package with everything the extras need.

Usage: python environment_is_complete.py CHECKOUT EXTRA[,EXTRA...]
The package may be an editable installation of the checkout or a regular one of the same code.
"""

import sys
from importlib import metadata, util
from pathlib import Path

checkout, extras = Path(sys.argv[1]), set(sys.argv[2].split(","))


def requirements_are_met(extras: set) -> bool:
    from packaging.requirements import Requirement

    for line in metadata.requires("ctxmt_fairseq") or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            if metadata.version(requirement.name) not in requirement.specifier:
                return False
            if not requirement.extras <= extras:  # of this package: "all" names the others
                return requirements_are_met(extras | requirement.extras)
    return True


def same_code() -> bool:
    spec = util.find_spec("ctxmt_fairseq")
    if spec is None or spec.origin is None:
        return False
    installed = Path(spec.origin).parent
    ours = checkout / "ctxmt_fairseq"
    files = {path.relative_to(ours) for path in ours.rglob("*.py")}
    return files == {path.relative_to(installed) for path in installed.rglob("*.py")} and all(
        (ours / name).read_bytes() == (installed / name).read_bytes() for name in files
    )


sys.exit(0 if requirements_are_met(extras) and same_code() else 1)
