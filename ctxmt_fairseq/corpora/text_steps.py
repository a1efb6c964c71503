"""The changes of text before it becomes subwords: the list ``text_steps`` of a data folder's ``ctxmt.json``.

All text that a data folder or its models read goes through these steps in their order, and what the models
write goes back through them. An entry is ``{"step": NAME, ...}``: the name of a class in ``STEPS``, and
whatever that class needs, such as names of files in the data folder. A new step is one class.
"""

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Dict, Mapping, Optional, Sequence, Tuple, Type

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.bpe_codes import SEPARATOR, load_codes
from ctxmt_fairseq.corpora.data_folder import DESCRIPTION, PathLike, check_unchanged, description_of
from ctxmt_fairseq.corpora.truecasing import read_forms, truecaser
from ctxmt_fairseq.text.json_files import Place, get
from ctxmt_fairseq.text.languages import bleu_tokenizer, primary

KEY = "text_steps"


class TextStep(ABC):
    """A change of the sentences of one language.

    Attributes:
        stays: whether its changes stay in output, because nothing can tell how the text was before.
        separator: the end of all of a word's pieces but the last, for a step that cuts words.
        files: the names of the files in the data folder that it reads; ``preprocess --like`` copies them.
    """

    stays: ClassVar[bool] = False
    separator: ClassVar[str] = ""
    files: Tuple[str, ...] = ()

    def __init__(self, language: str = ""):
        self.language = language

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "TextStep":
        """Make the step of an entry of ``ctxmt.json``, by the language alone if it needs nothing else."""
        return cls(language)

    @abstractmethod
    def apply(self, text: str) -> str:
        """Turn a sentence into what the models read."""

    def undo(self, text: str) -> str:
        """Turn what the models write into a sentence; what ``stays`` is as it is."""
        return text


class Lowercase(TextStep):
    """Lower-cases text by Unicode's full mapping: German ß stays, and Greek has its final sigma.

    In Turkish, Azerbaijani and Crimean Tatar (told by the language's code: tr, tr_TR, tur, ..) I becomes ı,
    and İ becomes i. Elsewhere İ becomes i with a dot above (two characters), as in Unicode.
    """

    stays = True

    def apply(self, text: str) -> str:
        if primary(self.language) in ("tr", "tur", "az", "aze", "azj", "azb", "crh"):
            text = text.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
        return text.lower()


class Moses(TextStep):
    """Moses' tokeniser and detokeniser, by sacremoses.

    An entry may have ``escape`` (write & | < > ' " [ ] as entities, as Moses does; default: true) and
    ``split_dashes`` (high-speed becomes high @-@ speed; default: false).
    """

    def __init__(self, language: str, escape: bool = True, split_dashes: bool = False):
        from sacremoses import MosesDetokenizer, MosesTokenizer

        code = primary(language)
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


class Punctuation(TextStep):
    """Normalises quotes, dashes, spaces and full-width signs, and drops control characters, as Moses does."""

    stays = True

    def __init__(self, language: str):
        from sacremoses import MosesPunctNormalizer

        how = {"pre_replace_unicode_punct": True, "post_remove_control_chars": True}
        self._normalizer = MosesPunctNormalizer(primary(language), **how)

    def apply(self, text: str) -> str:
        return self._normalizer.normalize(text)


class Truecase(TextStep):
    """Truecases tokenised text by sacremoses; in output a sentence begins with a capital.

    The first word of a sentence, words behind a full stop, and forms that were never seen get their word's
    most frequent form, as Moses' truecase.perl does. An entry's ``counts`` names each language's file of
    forms (``truecasing``) in the data folder: {"en": "truecase.en"}.
    """

    def __init__(self, counts: Path):
        from sacremoses import MosesDetruecaser

        self.files = (counts.name,)
        self._truecaser, self._detruecaser = truecaser(read_forms(counts)), MosesDetruecaser()

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "Truecase":
        return cls(_file_of(entry, "counts", folder, language))

    def apply(self, text: str) -> str:
        return self._truecaser.truecase(text, return_str=True, use_known=True)

    def undo(self, text: str) -> str:
        return self._detruecaser.detruecase(text, return_str=True)


class BytePairs(TextStep):
    """Byte-pair encoding (``bpe_codes``): the last step, which turns words into pieces.

    An entry's ``codes`` names each language's file of merges in the data folder: {"en": "bpe.codes"}; if it
    has a ``vocabulary``, that of its pieces, with the ``threshold`` of their counts.
    """

    separator = SEPARATOR

    def __init__(self, codes: Path, vocabulary: Optional[Path] = None, threshold: int = 0):
        self.files = (codes.name, vocabulary.name) if vocabulary else (codes.name,)
        self._bpe = load_codes(codes, vocabulary, threshold)

    @classmethod
    def load(cls, entry: Mapping[str, Any], folder: Path, language: str) -> "BytePairs":
        codes = _file_of(entry, "codes", folder, language)
        if "vocabulary" not in entry:
            return cls(codes)
        threshold = get(Place(folder / DESCRIPTION, part=f"{KEY}, bpe"), entry, "threshold", int)
        return cls(codes, _file_of(entry, "vocabulary", folder, language), threshold)

    def apply(self, text: str) -> str:
        try:
            return " ".join(self._bpe.segment_tokens(text.split()))
        except RecursionError:  # merges of merges, a thousand deep, that the vocabulary lacks
            raise BadInput(f"{self.files[0]}: cannot undo so many merges of a word: {text[:60]!r}") from None

    def undo(self, text: str) -> str:
        return f"{text} ".replace(f"{SEPARATOR} ", "").rstrip()


class Spaces(TextStep):
    """Keeps no-break spaces, narrow ones too, and ideographic spaces: each becomes a sign behind the word
    before it. The signs are characters that Unicode has reserved, so that no text has them."""

    SIGNS: ClassVar[Dict[str, str]] = {"\u00a0": "\ufdd0", "\u202f": "\ufdd1", "\u3000": "\ufdd2"}
    _WRITTEN = str.maketrans({space: f"{sign} " for space, sign in SIGNS.items()})
    _READ: ClassVar[Dict[str, str]] = {sign: space for space, sign in SIGNS.items()}
    _SIGN = re.compile(f"([{''.join(_READ)}]) ?")

    def apply(self, text: str) -> str:
        return text.translate(self._WRITTEN)

    def undo(self, text: str) -> str:
        return self._SIGN.sub(lambda found: self._READ[found[1]], text).strip()


def _file_of(entry: Mapping[str, Any], key: str, folder: Path, language: str) -> Path:
    """The file in the data folder that an entry names for a language."""
    place = Place(folder / DESCRIPTION, part=f"{KEY}, {entry['step']}")
    name = get(place, get(place, entry, key, dict), language, str)
    if Path(name).name != name:
        raise place.error(f"expected the name of a file in the folder, found {name!r}")
    return folder / name


STEPS: Dict[str, Type[TextStep]] = {
    "spaces": Spaces,
    "punctuation": Punctuation,
    "moses": Moses,
    "truecase": Truecase,
    "lowercase": Lowercase,
    "bpe": BytePairs,
}


class TextSteps:
    """The steps of one language, in the order in which they are applied."""

    def __init__(self, steps: Sequence[TextStep] = (), language: str = ""):
        self.steps, self.language = tuple(steps), language

    @classmethod
    def load(cls, data_folder: PathLike, language: str) -> "TextSteps":
        """Load those of a data folder, with the files of when it was made; a folder without ``ctxmt.json``,
        of another tool, has none."""
        steps = cls.of_entries(description_of(data_folder).get(KEY, []), data_folder, language)
        check_unchanged(data_folder, *steps.files)
        return steps

    @classmethod
    def of_entries(cls, entries: Sequence[Any], folder: PathLike, language: str) -> "TextSteps":
        """Make the steps of the list in ``ctxmt.json`` of a folder, which has their files."""
        steps: Dict[str, TextStep] = {}
        for entry in entries:
            name = entry.get("step") if isinstance(entry, dict) else None
            if not isinstance(name, str) or name not in STEPS or name in steps:
                message = f"{KEY}: this version knows the steps {', '.join(STEPS)}, each once, not {entry!r}"
                raise BadInput(message, Path(folder) / DESCRIPTION)
            steps[name] = STEPS[name].load(entry, Path(folder), language)
        return cls([*steps.values()], language)

    def apply(self, text: str) -> str:
        """Turn a sentence into what the models read, before it is cut into subwords."""
        for step in self.steps:
            text = step.apply(text)
        return text

    def undo(self, text: str) -> str:
        """Turn a model's output into a sentence."""
        for step in reversed(self.steps):
            text = step.undo(text)
        return text

    def surface(self, text: str) -> str:
        """Turn a sentence into what output would have, by the steps that stay, such as lower case.

        Text is compared with output, and embedded, in this form.
        """
        keeps_spaces = any(isinstance(step, Spaces) for step in self.steps)
        return self.kept(text if keeps_spaces else " ".join(text.split()))

    def kept(self, text: str) -> str:
        """Turn a sentence into what output should have, if nothing else of it were lost."""
        for step in self.steps:
            if step.stays:
                text = step.apply(text)
        return text

    @property
    def lowercase(self) -> bool:
        """Whether output has no capitals."""
        return any(isinstance(step, Lowercase) for step in self.steps)

    @property
    def bleu_tokenizer(self) -> Optional[str]:
        """The one of the language; None: sacrebleu's default."""
        return bleu_tokenizer(self.language)

    @property
    def separator(self) -> str:
        """The end of all pieces of a word but the last; "": the steps leave words whole."""
        return next((step.separator for step in self.steps if step.separator), "")

    @property
    def files(self) -> Tuple[str, ...]:
        """The names of the files in the data folder that the steps read."""
        return tuple(name for step in self.steps for name in step.files)


def steps_of_language(data_folder: Optional[PathLike], side: str) -> TextSteps:
    """Load the steps of a data folder's ``source`` or ``target`` language; none without a folder."""
    if data_folder is None:
        return TextSteps()
    if not Path(data_folder).is_dir():
        raise BadInput("no such data folder", data_folder)
    description = description_of(data_folder)
    if not (description or any(Path(data_folder).glob("dict.*.txt"))):
        raise BadInput("is no data folder: found no dict.LANG.txt", data_folder)
    return TextSteps.load(data_folder, description.get(f"{side}_lang", ""))
