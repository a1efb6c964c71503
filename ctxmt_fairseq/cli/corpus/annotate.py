"""Part of speech, lemma, gender, number and more of the words of a text, for --annotation of ctxmt compare
pronouns, analyse antecedents and analyse group-use.

English and French: spaCy with the models that PyPI has. German: HanTa, without gender and number. Russian:
pymorphy3, by the word alone. Other languages: simplemma, lemmas only. All come with the extra "linguistics".
--model: any model of spaCy that is installed as a package. Labels are those of Universal Dependencies: NOUN,
Fem, Plur.

FILE gets a JSON line for each line of TEXT, as other tools may write them too:
  {"words": [{"text": "dogs", "start": 4, "end": 8, "pos": "NOUN", "lemma": "dog", "number": "Plur"}]}
Places are characters of the line without blanks at its ends; what is not known is left out.

Example: ctxmt corpus annotate test.fr --lang fr --output test.fr.words.jsonl
"""

from collections import Counter
from typing import BinaryIO, Optional

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.option_types import name
from ctxmt_fairseq.base.paths import Input, Language, Output
from ctxmt_fairseq.corpora.corpus_command import processes


class Annotate(Command):
    text: Input = argument("TEXT", "one sentence per line")
    lang: Language = option("of the text")
    model: Optional[str] = option(
        "with a model of spaCy, such as de_core_news_sm", type=name, metavar="PACKAGE"
    )
    workers: int = processes()
    output: Output = option("the annotation")

    def run(self) -> None:
        from tqdm.auto import tqdm

        from ctxmt_fairseq.base.files import write_file
        from ctxmt_fairseq.corpora.linguistics.analysers import analyser
        from ctxmt_fairseq.corpora.linguistics.annotate import annotated_text
        from ctxmt_fairseq.text.annotation import LABELS, annotation_line

        tool = analyser(self.lang, self.model)
        counts: Counter = Counter()

        def write(stream: BinaryIO) -> None:
            sentences = annotated_text(self.text, self.lang, self.model, self.workers)
            for words in tqdm(sentences, unit=" sentences", disable=None):
                stream.write(f"{annotation_line(words)}\n".encode())
                counts.update(sentences=1, words=len(words))
                counts.update(name for word in words for name in LABELS if getattr(word, name) is not None)

        write_file(self.output, write)
        print(f"{self.output}: {counts['sentences']:,} sentences, {counts['words']:,} words by {tool.name}")
        known = [f"{name} of {counts[name]:,}" for name in LABELS if counts[name]]
        unknown = [name for name in LABELS if not counts[name]]
        print("; ".join([*known, *([f"not known: {', '.join(unknown)}"] if unknown else [])]))
