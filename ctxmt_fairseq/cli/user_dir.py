"""Print the plugin's real path, for fairseq's own commands.

Example: fairseq-train data-bin --user-dir $(ctxmt user-dir) --task document_window ...
"""

from pathlib import Path

from ctxmt_fairseq.base.command import Command


class UserDir(Command):
    def run(self) -> None:
        print(Path(__file__).resolve().parents[1])
