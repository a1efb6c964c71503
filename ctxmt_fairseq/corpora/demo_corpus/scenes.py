"""Makes documents from scenes, each with one phenomenon, and sentences that decide nothing for it.

A document has one speaker, one addressee, one register, and one term in one of its French forms; its
English shows only the term. Up to two sentences are between a sentence and what decides it.

The metadata state the register, or a setting implies it by genre, plot, and sentences of the setting.
"""

import random
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.demo_corpus import lexicon as words
from ctxmt_fairseq.corpora.demo_corpus import sentences as tables
from ctxmt_fairseq.corpora.demo_corpus.sentences import Frame, Sentence

REACH = 3  # what decides a sentence is at most so many sentences before it
Pair = Tuple[str, str]
# Pairs of English sentences (earlier, later) that may be at most REACH apart only in the contrastive sets.
HeldOut = Set[Tuple[str, str]]


class Situation:
    """What the English of a document does not tell, and its sentences and scenes; all is drawn with ``rng``.
    Register, speaker, addressee and ``form``, in which French has the ``term``, are 0 or 1. If ``implied``, a
    ``setting`` implies the register, which the metadata do not state."""

    def __init__(self, rng: random.Random, implied: bool):
        self.rng = rng
        self.register, self.speaker, self.addressee, self.form = (rng.randrange(2) for _ in range(4))
        self.term = rng.choice(words.TERMS)
        self.setting = rng.choice(words.SETTINGS[self.register]) if implied else None

    def metadata(self) -> Dict[str, str]:
        """Draw the document's metadata; each field is missing in one document of five."""
        choice = self.rng.choice
        if self.setting is None:
            # Half of the documents have the usual text, the others one of its paraphrases.
            fields = {"formality": words.REGISTER_TEXTS[self.register][max(0, self.rng.randrange(-1, 3))]}
        else:
            fields = {"genre": choice(self.setting.genres), "plot": choice(self.setting.plots)}
        fields["speaker"] = words.SPEAKER_TEXTS[self.speaker]
        fields["addressee"] = words.ADDRESSEE_TEXTS[self.addressee]
        return {name: text for name, text in fields.items() if self.rng.random() < 0.8}

    def _pick(self, table: List[Sentence], variant: int) -> Pair:
        sentence = self.rng.choice(table)
        return sentence.en, sentence.fr[variant]

    def _filler(self) -> Pair:
        return self._pick(tables.fillers(), 0)

    def _to_register(self) -> Pair:
        return self._pick(tables.register_lines(), self.register)

    def _by_speaker(self) -> Pair:
        return self._pick(tables.speaker_lines(), self.speaker)

    def _to_addressee(self) -> Pair:
        return self._pick(tables.addressee_lines(), 2 * self.register + self.addressee)

    def _of_term(self) -> Pair:
        return self._pick(tables.term_lines(self.term), self.form)

    def single(self) -> Pair:
        """A sentence of what the document tells, for its end."""
        return self.rng.choice((self._to_register, self._by_speaker, self._to_addressee, self._of_term))()

    def _between(self) -> List[Pair]:
        """Draw up to two sentences that name no thing, so none of them can be an antecedent."""
        kinds = (self._filler, self._to_register, self._by_speaker, self._to_addressee, self._of_term)
        return [self.rng.choice(kinds)() for _ in range(self.rng.randrange(REACH))]

    def _thing(self, frames: List[Frame], gender: int, number: int) -> Pair:
        frame, noun = self.rng.choice(frames), self.rng.choice(words.NOUNS_BY_GENDER[gender])
        sentence = tables.fill(frame, noun, number)
        return sentence.en, sentence.fr[0]

    def pronoun(self) -> List[Pair]:
        gender, number = self.rng.randrange(2), int(self.rng.random() < 0.25)
        thing = self._thing(tables.antecedent_frames(), gender, number)
        return [thing, *self._between(), self._pick(tables.pronoun_lines(number), gender)]

    def cataphora(self) -> List[Pair]:
        gender, number = self.rng.randrange(2), int(self.rng.random() < 0.25)
        thing = self._thing(tables.explanation_frames(), gender, number)
        return [self._pick(tables.cataphora_lines(number), gender), thing]

    def sense(self) -> List[Pair]:
        homograph, sense = self.rng.choice(words.HOMOGRAPHS), self.rng.randrange(2)
        cue = self._pick(tables.sense_cues(homograph, sense), 0)
        return [cue, self._pick(tables.homograph_lines(homograph), sense)]

    def ellipsis(self) -> List[Pair]:
        verb = self.rng.randrange(len(words.VERBS))
        denial = self._pick(tables.denials(words.VERBS[verb]), 0)
        return [denial, self._pick(tables.ellipsis_lines(), verb)]

    def terms(self) -> List[Pair]:
        scene = [self._of_term()]
        for _ in range(self.rng.randint(1, 2)):
            scene += [*self._between(), self._of_term()]
        return scene

    def _remarks(self) -> List[Pair]:
        """Draw up to two sentences that address nobody, half of them of the setting, if there is one."""
        return [
            self._pick(tables.setting_lines(self.setting), 0)
            if self.setting and self.rng.random() < 0.5
            else self._filler()
            for _ in range(self.rng.randrange(REACH))
        ]

    def address(self) -> List[Pair]:
        between = self._remarks()
        before = self._remarks() if self.setting else []
        return [*before, self._to_register(), *between, self._to_register()]

    def of_speaker(self) -> List[Pair]:
        return [self._by_speaker()]

    def of_addressee(self) -> List[Pair]:
        return [self._to_addressee()]


Scene = Callable[[Situation], List[Pair]]
# Each phenomenon's scene and its weight. Pronouns and terms weigh most, because they take longest to learn (a
# gender per noun, forms to copy); agreement with speaker and addressee also occurs in the other scenes.
SCENES: Dict[str, Tuple[Scene, int]] = {
    "pronoun": (Situation.pronoun, 6),
    "lexical-choice": (Situation.sense, 3),
    "lexical-cohesion": (Situation.terms, 6),
    "deixis": (Situation.address, 4),
    "ellipsis": (Situation.ellipsis, 2),
    "cataphora": (Situation.cataphora, 2),
    "speaker-gender": (Situation.of_speaker, 0),
    "addressee-gender": (Situation.of_addressee, 0),
}
ALONE = 4  # replaces a weight of 0 if the phenomenon is asked for


def scenes_of(phenomena: Optional[Sequence[str]]) -> Dict[Scene, int]:
    """Find the scenes of some phenomena (None: all that have a weight), with their weights."""
    if phenomena is None:
        return {scene: weight for scene, weight in SCENES.values() if weight}
    for name in phenomena:
        if name not in SCENES:
            raise BadInput(f"expected phenomena from {', '.join(SCENES)}, found {name!r}")
    return {SCENES[name][0]: SCENES[name][1] or ALONE for name in phenomena}


def _clashes(pairs: List[Pair], start: int, held_out: HeldOut) -> bool:
    """Whether a sentence from ``start`` on forms a held-out pair with one before it."""
    return any(
        (pairs[earlier][0], pairs[later][0]) in held_out
        for later in range(start, len(pairs))
        for earlier in range(max(0, later - REACH), later)
    )


def document(
    rng: random.Random, length: int, held_out: HeldOut, scenes: Dict[Scene, int], implied: bool = False
) -> Tuple[List[Pair], Dict[str, str]]:
    """Draw a document of ``length`` (English, French) sentences, and its metadata. Single sentences fill the
    end where no scene fits; pairs that are ``held_out`` are not near each other; if ``implied``, no metadata
    state the register."""
    situation = Situation(rng, implied)
    pairs: List[Pair] = []
    while len(pairs) < length:
        scene = rng.choices(list(scenes), list(scenes.values()))[0](situation)
        if len(pairs) + len(scene) > length:
            scene = [situation.single()]
        pairs += scene
        if _clashes(pairs, len(pairs) - len(scene), held_out):
            del pairs[len(pairs) - len(scene) :]
    return pairs, situation.metadata()
