"""What is learned from: subtitles with contrastive pronouns, and whole help pages."""

from dataclasses import dataclass
from typing import Dict, Optional, Tuple


@dataclass(frozen=True)
class Text:
    """A parallel corpus, ``SPLIT.en``, ``SPLIT.TARGET`` and ``SPLIT.docids``.

    Attributes:
        name: its folder of the corpora.
        target: language.
        splits: those it has. Without ``test``, half of the documents of ``valid`` are the test text.
        suite: a contrastive set, in the same place.
    """

    name: str
    target: str
    splits: Tuple[str, ...] = ("train", "valid", "test")
    suite: Optional[str] = None

    @property
    def kinds(self) -> Tuple[str, str, str]:
        """Endings of a split's files."""
        return "en", self.target, "docids"

    @property
    def has_parts(self) -> bool:
        """Whether the second stage learns from parts of the training text (``corpus.PARTS``)."""
        return "test" not in self.splits


SUBTITLES = Text("en-fr-subtitles", "fr", ("train", "valid"), "contrastive/en-fr-pronouns")
HELP: Dict[str, Text] = {language: Text(f"en-{language}-help", language) for language in ("de", "fr")}
