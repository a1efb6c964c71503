"""What ctxmt evaluate makes of a model: translations with which contexts, how searched, how scored."""

from typing import TYPE_CHECKING, Dict, List, Literal, Optional, Tuple, Union

from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.option_types import non_negative_int, number, positive_int
from ctxmt_fairseq.base.paths import Folder, Input, Prefix
from ctxmt_fairseq.cli.options.model import TOO_LONG, TooLong, search
from ctxmt_fairseq.cli.options.scoring import TOKENIZER, sentences_before
from ctxmt_fairseq.generation.search_settings import BOUNDS, DOCUMENTS_AT_ONCE

if TYPE_CHECKING:
    from ctxmt_fairseq.evaluation.comet.comet_models import CometModel

CONVENTIONS = ("suite", *(f"{how}-{span}" for span in ("current", "window") for how in ("sum", "mean")))


def lenpen(text: str) -> Union[float, str]:
    """A length penalty, or opt."""
    return text if text == "opt" else number(*BOUNDS["lenpen"])(text)


def window(text: str) -> Optional[int]:
    """How many sentences a window has, or trained."""
    return None if text == "trained" else positive_int(text)


def numbers(text: str) -> List[float]:
    """Numbers, separated by blanks; one or more."""
    return [number(*BOUNDS["lenpen"])(word) for word in text.split() or [text]]


class Contexts(OptionGroup):
    heading = "context"

    contexts: List[str] = option(
        "a translation with each: trained (that of the training), random, empty (an empty sentence), absent "
        "(none), ...",
        ["trained"],
    )
    random_context: Literal["random", "shuffled"] = option(
        "what random is: another document's sentences, or a permutation of the text's own contexts", "random"
    )
    decodings: List[str] = option(
        "with target context, a translation with each: prefix (earlier translations are forced), window (the "
        "whole window is decoded)",
        ["prefix"],
        flag="--decoding",
    )
    window: Optional[int] = option(
        "windows of K sentences, on the sides that had previous sentences in training (default: trained)",
        type=window,
        metavar="K",
    )
    kept: Optional[Literal["current", "first"]] = option(
        "which sentence of a decoded window is kept (default: that of the training); first leaves out the "
        "last lines of documents",
        flag="--keep-sentence",
    )
    target_context_from: Input = option(
        "own translations, the references, another model's (default: own)",
        Input("own"),
        metavar="own|reference|MODEL",
    )

    def given(self) -> Dict[str, str]:
        """What the names of translations do not say of their contexts, where it is not usual."""
        source = self.target_context_from
        said = source if source in ("own", "reference") else "another model"
        random = self.random_context if "random" in self.names()[1] else "random"
        given = {"target_context_from": said, "random_context": random}
        return {name: value for name, value in given.items() if value not in ("own", "random")}

    def names(self) -> Tuple[List[str], List[str]]:
        """Decodings and contexts; several may also be given as one text."""
        from ctxmt_fairseq.data.context_options import SELECTIONS

        given = [" ".join(texts).split() for texts in (self.decodings, self.contexts)]
        allowed = (("prefix", "window"), ("trained", *SELECTIONS))
        for flag, words, names in zip(("--decoding", "--contexts"), given, allowed, strict=True):
            for word in words:
                if word not in names:
                    raise BadInput(f"{flag} {word}: expected names from {', '.join(names)}")
        return given[0], given[1]


class Search(OptionGroup):
    heading = "search"

    fixed: OptionGroup = search(*(name for name in BOUNDS if name != "lenpen"), heading="")
    lenpen: Union[float, str] = option(
        "length penalty; opt: the best of --lenpens on --dev (default: 1)", 1.0, lenpen, metavar="X"
    )
    dev: Optional[Prefix] = option("prefix of the text for --lenpen opt", metavar="TEXT")
    lenpens: Optional[List[List[float]]] = option(
        "numbers for opt (default: 0.4 0.5 .. 3.0)", type=numbers, metavar="X"
    )
    documents_at_once: int = option("documents translated side by side", DOCUMENTS_AT_ONCE)
    too_long: TooLong = TOO_LONG

    @property
    def penalty(self) -> Optional[float]:
        """None: it is looked for."""
        return None if self.lenpen == "opt" else float(self.lenpen)


class Scores(OptionGroup):
    heading = "scores"

    tokenize: Optional[str] = option(TOKENIZER)
    lowercase: bool = option("ignore case; with a lower-cased data folder it always is")
    comet: List[str] = option(
        "models of COMET, see ctxmt score --help (needs the extra comet)", [], metavar="MODEL"
    )
    comet_context: int = sentences_before()
    bootstrap: int = option("95 % intervals from N samples of the sentences", 0, non_negative_int)
    convention: str = option(
        "which log-probability of candidates is compared: the sum or the mean over the tokens of the current "
        "sentence or window (default: the suite's own)",
        "suite",
        choices=CONVENTIONS,
    )
    documents: Optional[Folder] = option("ContraPro's context documents")

    def comet_models(self) -> List["CometModel"]:
        if not self.comet:
            if self.comet_context:
                raise BadInput("--comet-context needs --comet")
            return []
        from ctxmt_fairseq.evaluation.comet.comet_models import load_comet

        return [load_comet(name) for text in self.comet for name in text.split()]
