"""Print the plugin's real path, for fairseq's own commands.

Example: fairseq-train data-bin --user-dir $(ctxmt user-dir) --task document_window ...
"""

from pathlib import Path


def add_arguments(parser) -> None:
    pass


def run(args) -> None:
    print(Path(__file__).resolve().parents[1])
