"""What ctxmt evaluate found in several folders, side by side.

Usage: python results.py FOLDER...      one column per folder, named after it (NAME=FOLDER gives another name)
"""

import sys
from pathlib import Path
from typing import List

from ctxmt_fairseq.errors import BadInput
from ctxmt_fairseq.evaluation.whole_runs.results import read_results, results_table


def main(arguments: List[str]) -> None:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.exit(__doc__)
    columns = {}
    for argument in arguments:
        name, _, path = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
        folder = Path(path)
        try:
            columns[name or (folder.parent.name if folder.name == "evaluation" else folder.name)] = (
                read_results(folder)
            )
        except BadInput as error:
            sys.exit(f"error: {error}")
    print(results_table(columns))


if __name__ == "__main__":
    main(sys.argv[1:])
