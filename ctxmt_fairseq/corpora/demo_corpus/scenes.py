"""Makes documents from scenes, each with one phenomenon, and sentences that decide nothing for it.

A document has one speaker, one addressee, one register, and one term in one of its French forms; its
English shows only the term. Up to two sentences are between a sentence and what decides it.

The metadata state the register, or a setting implies it by genre, plot, and sentences of the setting.
"""

import random
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.corpora.demo_corpus import lexicon as words
from ctxmt_fairseq.corpora.demo_corpus import sentences as tables
from ctxmt_fairseq.corpora.demo_corpus.sentences import Frame, Sentence

REACH = 3  # what decides a sentence is at most so many sentences before it
Pair = Tuple[str, str]
# Pairs of English sentences (earlier, later) that may be at most REACH apart only in the contrastive sets.
HeldOut = Set[Tuple[str, str]]


@dataclass(frozen=True)
class Situation:
    """What the English of a document does not tell; register, speaker, addressee and ``form``, in which
    French has the ``term``, are 0 or 1. ``setting`` implies the register, if the metadata do not state it."""

    register: int
    speaker: int
    addressee: int
    term: words.Term
    form: int
    setting: Optional[words.Setting]

    @classmethod
    def draw(cls, rng: random.Random, implied: bool) -> "Situation":
        register, speaker, addressee, form = (rng.randrange(2) for _ in range(4))
        term = rng.choice(words.TERMS)
        setting = rng.choice(words.SETTINGS[register]) if implied else None
        return cls(register, speaker, addressee, term, form, setting)

    def metadata(self, rng: random.Random) -> Dict[str, str]:
        """Draw the document's metadata; each field is missing in one document of five."""
        if self.setting is None:
            # Half of the documents have the usual text, the others one of its paraphrases.
            fields = {"formality": words.REGISTER_TEXTS[self.register][max(0, rng.randrange(-1, 3))]}
        else:
            fields = {"genre": rng.choice(self.setting.genres), "plot": rng.choice(self.setting.plots)}
        fields["speaker"] = words.SPEAKER_TEXTS[self.speaker]
        fields["addressee"] = words.ADDRESSEE_TEXTS[self.addressee]
        return {name: text for name, text in fields.items() if rng.random() < 0.8}


def _filler(rng: random.Random, situation: Situation) -> Pair:
    return _pick(rng, tables.fillers(), 0)


def _register(rng: random.Random, situation: Situation) -> Pair:
    return _pick(rng, tables.register_lines(), situation.register)


def _speaker(rng: random.Random, situation: Situation) -> Pair:
    return _pick(rng, tables.speaker_lines(), situation.speaker)


def _addressee(rng: random.Random, situation: Situation) -> Pair:
    return _pick(rng, tables.addressee_lines(), 2 * situation.register + situation.addressee)


def _term(rng: random.Random, situation: Situation) -> Pair:
    return _pick(rng, tables.term_lines(situation.term), situation.form)


def _pick(rng: random.Random, table: List[Sentence], variant: int) -> Pair:
    sentence = rng.choice(table)
    return sentence.en, sentence.fr[variant]


def _between(rng: random.Random, situation: Situation) -> List[Pair]:
    """Draw up to two sentences that name no thing, so none of them can be an antecedent."""
    kinds = (_filler, _register, _speaker, _addressee, _term)
    return [rng.choice(kinds)(rng, situation) for _ in range(rng.randrange(REACH))]


def _thing(rng: random.Random, frames: List[Frame], gender: int, number: int) -> Pair:
    frame, noun = rng.choice(frames), rng.choice(words.NOUNS_BY_GENDER[gender])
    sentence = tables.fill(frame, noun, number)
    return sentence.en, sentence.fr[0]


def _pronoun_scene(rng: random.Random, situation: Situation) -> List[Pair]:
    gender, number = rng.randrange(2), int(rng.random() < 0.25)
    thing = _thing(rng, tables.antecedent_frames(), gender, number)
    return [thing, *_between(rng, situation), _pick(rng, tables.pronoun_lines(number), gender)]


def _cataphora_scene(rng: random.Random, situation: Situation) -> List[Pair]:
    gender, number = rng.randrange(2), int(rng.random() < 0.25)
    thing = _thing(rng, tables.explanation_frames(), gender, number)
    return [_pick(rng, tables.cataphora_lines(number), gender), thing]


def _sense_scene(rng: random.Random, situation: Situation) -> List[Pair]:
    homograph, sense = rng.choice(words.HOMOGRAPHS), rng.randrange(2)
    return [
        _pick(rng, tables.sense_cues(homograph, sense), 0),
        _pick(rng, tables.homograph_lines(homograph), sense),
    ]


def _ellipsis_scene(rng: random.Random, situation: Situation) -> List[Pair]:
    verb = rng.randrange(len(words.VERBS))
    return [_pick(rng, tables.denials(words.VERBS[verb]), 0), _pick(rng, tables.ellipsis_lines(), verb)]


def _term_scene(rng: random.Random, situation: Situation) -> List[Pair]:
    scene = [_term(rng, situation)]
    for _ in range(rng.randint(1, 2)):
        scene += [*_between(rng, situation), _term(rng, situation)]
    return scene


def _remarks(rng: random.Random, situation: Situation) -> List[Pair]:
    """Draw up to two sentences that address nobody, half of them of the setting, if there is one."""
    return [
        _pick(rng, tables.setting_lines(situation.setting), 0)
        if situation.setting and rng.random() < 0.5
        else _filler(rng, situation)
        for _ in range(rng.randrange(REACH))
    ]


def _register_scene(rng: random.Random, situation: Situation) -> List[Pair]:
    between = _remarks(rng, situation)
    before = _remarks(rng, situation) if situation.setting else []
    return [*before, _register(rng, situation), *between, _register(rng, situation)]


Scene = Callable[[random.Random, Situation], List[Pair]]
# Each phenomenon's scene and its weight. Pronouns and terms weigh most, because they take longest to learn (a
# gender per noun, forms to copy); agreement with speaker and addressee also occurs in the other scenes.
SCENES: Dict[str, Tuple[Scene, int]] = {
    "pronoun": (_pronoun_scene, 6),
    "lexical-choice": (_sense_scene, 3),
    "lexical-cohesion": (_term_scene, 6),
    "deixis": (_register_scene, 4),
    "ellipsis": (_ellipsis_scene, 2),
    "cataphora": (_cataphora_scene, 2),
    "speaker-gender": (lambda rng, situation: [_speaker(rng, situation)], 0),
    "addressee-gender": (lambda rng, situation: [_addressee(rng, situation)], 0),
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
    situation = Situation.draw(rng, implied)
    pairs: List[Pair] = []
    while len(pairs) < length:
        scene = rng.choices(list(scenes), list(scenes.values()))[0](rng, situation)
        if len(pairs) + len(scene) > length:
            scene = [rng.choice((_register, _speaker, _addressee, _term))(rng, situation)]
        pairs += scene
        if _clashes(pairs, len(pairs) - len(scene), held_out):
            del pairs[len(pairs) - len(scene) :]
    return pairs, situation.metadata(rng)
