"""What is done to text before it becomes subwords: the list ``text_steps`` of a data folder's ``ctxmt.json``.

All text that a data folder or its models read goes through these steps in their order, and what the models
write back through them. An entry is ``{"step": NAME, ...}``: the name of a class in ``STEPS``, and whatever
that class wants to know, such as names of files in the data folder. A new step is one class.
"""

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Dict, Mapping, Optional, Sequence, Tuple, Type

from ctxmt_fairseq.corpora.bpe_codes import SEPARATOR, load_codes
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION, PathLike, read_description
from ctxmt_fairseq.corpora.truecasing import Truecaser
from ctxmt_fairseq.data.json_files import Place, get
from ctxmt_fairseq.errors import BadInput

KEY = "text_steps"


class TextStep(ABC):
    """A change of the sentences of one language.

    Attributes:
        stays: what the step changes stays changed in output, for nothing can tell how it was.
        separator: of a step that cuts words into pieces, what all of a word's pieces but the last end with.
        files: names of the files in the data folder that the step reads; ``preprocess --like`` copies them.
    """

    stays: ClassVar[bool] = False
    separator: ClassVar[str] = ""
    files: Tuple[str, ...] = ()

    @classmethod
    @abstractmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "TextStep":
        """The step of an entry of ``ctxmt.json``.

        Raises:
            BadInput: the entry or a file cannot be used.
        """

    @abstractmethod
    def apply(self, text: str) -> str:
        """What the models read of a sentence."""

    @abstractmethod
    def undo(self, text: str) -> str:
        """The sentence that the models mean."""


class Lowercase(TextStep):
    """Lower case by Unicode's full mapping: German ß stays, and Greek has its final sigma.

    In Turkish and Azerbaijani, I becomes ı and İ becomes i; elsewhere İ becomes i with a dot above (two
    characters), as Unicode has it. The language is told by its code (tr, tr_TR, tur, ..).
    """

    stays = True

    def __init__(self, language: str = ""):
        self.dotless = re.split("[-_]", language.lower())[0] in ("tr", "tur", "az", "aze")

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "Lowercase":
        return cls(language)

    def apply(self, text: str) -> str:
        if self.dotless:
            text = text.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
        return text.lower()

    def undo(self, text: str) -> str:
        return text


class Moses(TextStep):
    """Moses' tokeniser and its detokeniser, by sacremoses.

    An entry may say ``escape`` (write & | < > ' " [ ] as entities, as Moses does; default: true) and
    ``split_dashes`` (high-speed becomes high @-@ speed; default: false).
    """

    def __init__(self, language: str, escape: bool = True, split_dashes: bool = False):
        from sacremoses import MosesDetokenizer, MosesTokenizer

        code = re.split("[-_]", language.lower())[0]
        self._tokenizer, self._detokenizer = MosesTokenizer(code), MosesDetokenizer(code)
        self._options = {"escape": escape, "aggressive_dash_splits": split_dashes}

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "Moses":
        place = Place(folder / DESCRIPTION, part=f"{KEY}, moses")
        options = {key: get(place, entry, key, bool) for key in ("escape", "split_dashes") if key in entry}
        return cls(language, **options)

    def apply(self, text: str) -> str:
        return self._tokenizer.tokenize(text, return_str=True, **self._options)

    def undo(self, text: str) -> str:
        return self._detokenizer.detokenize(text.split(), unescape=self._options["escape"])


class Truecase(TextStep):
    """Truecasing of tokenised text (``truecasing``); output has a capital where a sentence starts.

    An entry's ``counts`` names each language's file in the data folder: {"en": "truecase.en"}.
    """

    def __init__(self, counts: Path):
        self.files = (counts.name,)
        self._truecaser = Truecaser.read(counts)

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "Truecase":
        return cls(_file_of(entry, "counts", folder, language))

    def apply(self, text: str) -> str:
        return self._truecaser.truecase(text)

    def undo(self, text: str) -> str:
        return self._truecaser.detruecase(text)


class BytePairs(TextStep):
    """Byte-pair encoding (``bpe_codes``): the last step, after which pieces are words.

    An entry's ``codes`` names each language's file of merges in the data folder: {"en": "bpe.codes"}.
    """

    separator = SEPARATOR

    def __init__(self, codes: Path):
        self.files = (codes.name,)
        self._bpe = load_codes(codes)

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "BytePairs":
        return cls(_file_of(entry, "codes", folder, language))

    def apply(self, text: str) -> str:
        return " ".join(self._bpe.segment_tokens(text.split()))

    def undo(self, text: str) -> str:
        return f"{text} ".replace(f"{SEPARATOR} ", "").rstrip()


def _file_of(entry: Mapping[str, Any], key: str, folder: Path, language: str) -> Path:
    """The file in the data folder that an entry names for a language."""
    place = Place(folder / DESCRIPTION, part=f"{KEY}, {entry['step']}")
    name = get(place, get(place, entry, key, dict), language, str)
    if Path(name).name != name:
        raise place.error(f"expected the name of a file in the folder, found {name!r}")
    return folder / name


STEPS: Dict[str, Type[TextStep]] = {
    "moses": Moses,
    "truecase": Truecase,
    "lowercase": Lowercase,
    "bpe": BytePairs,
}


class TextSteps:
    """The steps of one language, in the order in which they are applied; none change nothing."""

    def __init__(self, steps: Sequence[TextStep] = ()):
        self.steps = tuple(steps)

    @classmethod
    def load(cls, data_folder: PathLike, language: str) -> "TextSteps":
        """Those of a data folder; none, if it has no ``ctxmt.json`` (folders of other tools).

        Raises:
            BadInput: as ``of_entries``.
        """
        if not (Path(data_folder) / DESCRIPTION).is_file():
            return cls()
        return cls.of_entries(read_description(data_folder).get(KEY, []), data_folder, language)

    @classmethod
    def of_entries(cls, entries: Sequence[Any], folder: PathLike, language: str) -> "TextSteps":
        """From the list in ``ctxmt.json``.

        Args:
            folder: has the steps' files.

        Raises:
            BadInput: an unknown step, or one that cannot be used.
        """
        steps = []
        for entry in entries:
            name = entry.get("step") if isinstance(entry, dict) else None
            if not isinstance(name, str) or name not in STEPS:
                known = ", ".join(STEPS)
                raise BadInput(
                    f"{KEY}: expected steps that this version knows ({known}), found {entry!r}",
                    Path(folder) / DESCRIPTION,
                )
            steps.append(STEPS[name].load(entry, Path(folder), language))
        return cls(steps)

    def apply(self, text: str) -> str:
        """What the models read of a sentence, before it is cut into subwords."""
        for step in self.steps:
            text = step.apply(text)
        return text

    def undo(self, text: str) -> str:
        """The sentence that a model's output stands for."""
        for step in reversed(self.steps):
            text = step.undo(text)
        return text

    def surface(self, text: str) -> str:
        """A sentence as it would stand in output: with what the steps do for good, such as lower case.

        Text is compared with output, and embedded, in this form.
        """
        for step in self.steps:
            if step.stays:
                text = step.apply(text)
        return text

    @property
    def lowercase(self) -> bool:
        """Whether output has no capitals."""
        return any(isinstance(step, Lowercase) for step in self.steps)

    @property
    def separator(self) -> str:
        """What all pieces of a word but the last end with; "": the steps leave words whole."""
        return next((step.separator for step in self.steps if step.separator), "")

    @property
    def files(self) -> Tuple[str, ...]:
        """Names of the files in the data folder that the steps read."""
        return tuple(name for step in self.steps for name in step.files)


def steps_of_language(data_folder: Optional[PathLike], side: str) -> TextSteps:
    """The steps of a data folder's ``source`` or ``target`` language; none without a folder.

    Raises:
        BadInput: no such folder; or as ``TextSteps.load``.
    """
    if data_folder is None:
        return TextSteps()
    if not Path(data_folder).is_dir():
        raise BadInput("no such data folder", data_folder)
    if not (Path(data_folder) / DESCRIPTION).is_file():
        return TextSteps()
    return TextSteps.load(data_folder, read_description(data_folder)[f"{side}_lang"])
