"""Makes twins: two contrastive examples with the same two candidates and opposite answers.

Twins differ only in what decides: one earlier or later source sentence, the French of one earlier sentence,
or one metadata text. Everything else in a window decides nothing.
"""

import random
from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Sequence, Tuple

from ctxmt_fairseq.corpora.demo_corpus import lexicon as words
from ctxmt_fairseq.corpora.demo_corpus import sentences as tables
from ctxmt_fairseq.corpora.demo_corpus.scenes import REACH, HeldOut
from ctxmt_fairseq.corpora.demo_corpus.sentences import Frame, Sentence


@dataclass(frozen=True)
class Example:
    """One example; the fields are those of ctxmt JSON lines (see the package)."""

    distance: int
    source: List[str]
    current: int
    targets: List[List[str]]
    correct: int
    meta: Optional[Dict[str, str]] = None


# A key decides: for each answer a sentence, and which of its French variants is in the text.
Key = Tuple[Tuple[Sentence, int], Tuple[Sentence, int]]


class TwinMaker:
    """Draws twins and holds out their English pairs of sentences; no two twins share one."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.held_out: HeldOut = set()
        self._unseen: List[Example] = []  # of ``formality_unseen``, until ``formality_zero_shot`` takes them

    def _fillers(self, count: int) -> List[Sentence]:
        return self.rng.sample(tables.fillers(), count)

    def hold_out(self, pairs: Sequence[Tuple[str, str]]) -> bool:
        """Hold the pairs out; False if one already is."""
        if self.held_out.intersection(pairs):
            return False
        self.held_out.update(pairs)
        return True

    def previous(self, key: Key, said: Sentence, variants: Sequence[int], distance: int) -> List[Example]:
        """Make twins that the sentence ``distance`` back decides, in a window of four, if they are new."""
        if not self.hold_out(sorted({(sentence.en, said.en) for sentence, _ in key})):
            return []
        filler = self._fillers(REACH - 1)
        before, after = filler[: REACH - distance], filler[REACH - distance :]
        twins = []
        for correct, (sentence, variant) in enumerate(key):
            source = [line.en for line in (*before, sentence, *after, said)]
            context = [line.fr[0] for line in filler]
            context.insert(len(before), sentence.fr[variant])
            targets = [[*context, said.fr[candidate]] for candidate in variants]
            twins.append(Example(distance, source, len(source) - 1, targets, correct))
        return twins

    def following(self, key: Key, said: Sentence) -> List[Example]:
        """Make twins that the next sentence decides, after one filler."""
        if not self.hold_out([(said.en, sentence.en) for sentence, _ in key]):
            return []
        (filler,) = self._fillers(1)
        targets = [[filler.fr[0], fr] for fr in said.fr]
        return [
            Example(-1, [filler.en, said.en, sentence.en], 1, targets, correct)
            for correct, (sentence, _) in enumerate(key)
        ]

    def metadata(
        self, said: Sentence, variants: Sequence[int], metas: Sequence[Dict[str, str]]
    ) -> List[Example]:
        """Make twins that metadata decide, after one filler."""
        (filler,) = self._fillers(1)
        if not self.hold_out([(filler.en, said.en)]):
            return []
        targets = [[filler.fr[0], said.fr[variant]] for variant in variants]
        return [
            Example(0, [filler.en, said.en], 1, targets, correct, dict(meta))
            for correct, meta in enumerate(metas)
        ]

    # One method for each phenomenon; each returns the two examples of a new twin, or none.

    def pronoun(self, distance: int) -> List[Example]:
        number = int(self.rng.random() < 0.25)
        key = self._things(tables.antecedent_frames(), number)
        said = self.rng.choice(tables.pronoun_lines(number))
        return self.previous(key, said, words.GENDERS, distance)

    def cataphora(self, distance: int) -> List[Example]:
        number = int(self.rng.random() < 0.25)
        key = self._things(tables.explanation_frames(), number)
        return self.following(key, self.rng.choice(tables.cataphora_lines(number)))

    def _things(self, frames: List[Frame], number: int) -> Key:
        """A masculine and a feminine thing in the same frame."""
        frame = self.rng.choice(frames)
        masculine, feminine = (
            tables.fill(frame, self.rng.choice(nouns), number) for nouns in words.NOUNS_BY_GENDER
        )
        return (masculine, 0), (feminine, 0)

    def lexical_choice(self, distance: int) -> List[Example]:
        homograph = self.rng.choice(words.HOMOGRAPHS)
        cues = [self.rng.choice(tables.sense_cues(homograph, sense)) for sense in (0, 1)]
        said = self.rng.choice(tables.homograph_lines(homograph))
        return self.previous(((cues[0], 0), (cues[1], 0)), said, (0, 1), distance)

    def ellipsis(self, distance: int) -> List[Example]:
        verbs = self.rng.sample(range(len(words.VERBS)), 2)
        place = self.rng.randrange(len(tables.denials(words.VERBS[0])))
        keys = [tables.denials(words.VERBS[verb])[place] for verb in verbs]
        said = self.rng.choice(tables.ellipsis_lines())
        return self.previous(((keys[0], 0), (keys[1], 0)), said, verbs, distance)

    def cohesion(self, distance: int) -> List[Example]:
        lines = tables.term_lines(self.rng.choice(words.TERMS))
        key, said = self.rng.sample(lines, 2)
        return self.previous(((key, 0), (key, 1)), said, (0, 1), distance)

    def deixis(self, distance: int) -> List[Example]:
        key, said = self.rng.sample(tables.register_lines(), 2)
        return self.previous(((key, 0), (key, 1)), said, (0, 1), distance)

    def formality(self, distance: int) -> List[Example]:
        metas = [{"formality": texts[0]} for texts in words.REGISTER_TEXTS]
        return self.metadata(self.rng.choice(tables.register_lines()), (0, 1), metas)

    def formality_unseen(self, distance: int) -> List[Example]:
        metas = [{"formality": self.rng.choice(texts)} for texts in words.UNSEEN_REGISTER_TEXTS]
        twin = self.metadata(self.rng.choice(tables.register_lines()), (0, 1), metas)
        self._unseen += twin
        return twin

    def formality_zero_shot(self, distance: int) -> List[Example]:
        """Say the next twin of ``formality_unseen`` in other words, so nothing more is held out."""
        twin, self._unseen = self._unseen[:2], self._unseen[2:]
        texts = (self.rng.choice(texts) for texts in words.ZERO_SHOT_REGISTER_TEXTS)
        return [replace(example, meta={"formality": text}) for example, text in zip(twin, texts, strict=True)]

    def implied_by_genre(self, distance: int) -> List[Example]:
        metas = [{"genre": self.rng.choice(self.rng.choice(settings).genres)} for settings in words.SETTINGS]
        return self.metadata(self.rng.choice(tables.register_lines()), (0, 1), metas)

    def implied_by_plot(self, distance: int) -> List[Example]:
        metas = [{"plot": self.rng.choice(self.rng.choice(settings).plots)} for settings in words.SETTINGS]
        return self.metadata(self.rng.choice(tables.register_lines()), (0, 1), metas)

    def implied_by_sentence(self, distance: int) -> List[Example]:
        lines = [
            self.rng.choice(tables.setting_lines(self.rng.choice(settings))) for settings in words.SETTINGS
        ]
        said = self.rng.choice(tables.register_lines())
        return self.previous(((lines[0], 0), (lines[1], 0)), said, (0, 1), distance)

    def speaker(self, distance: int) -> List[Example]:
        metas = [{"speaker": text} for text in words.SPEAKER_TEXTS]
        return self.metadata(self.rng.choice(tables.speaker_lines()), words.GENDERS, metas)

    def addressee(self, distance: int) -> List[Example]:
        register = self.rng.randrange(2)
        formality = words.REGISTER_TEXTS[register][0]
        metas = [{"formality": formality, "addressee": text} for text in words.ADDRESSEE_TEXTS]
        said = self.rng.choice(tables.addressee_lines())
        return self.metadata(said, [2 * register + gender for gender in words.GENDERS], metas)
