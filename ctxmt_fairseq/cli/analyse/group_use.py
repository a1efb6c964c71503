"""How the latent groups of a model are used over a text: how many of them, and by which tokens.

For a caching_transformer with --shortening group or select (sequence shortening, section 5.4). The table has
for words, punctuation and </s> the mean weight of a token in each group (group), or the part of each group's
weight (select); and the sentences in which any token has weight in the group. With --annotation words are
told apart by their part of speech: a JSON line for each sentence, whose places are characters:
  {"words": [{"text": "dogs", "start": 4, "end": 8, "pos": "NOUN"}, ...]}
ctxmt corpus annotate makes it.

Example: ctxmt analyse group-use checkpoint_best.pt test.en --annotation test.en.jsonl --output use.png
"""

from typing import Optional

from ctxmt_fairseq.base.command import argument, option
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.options.model import OfModel
from ctxmt_fairseq.cli.options.result_files import MapFiles


class GroupUse(OfModel):
    text: Input = argument("FILE", "source sentences, one per line")
    annotation: Optional[Input] = option("parts of speech, a JSON line per sentence")
    max_tokens: int = option("per batch", 4000)
    files: MapFiles

    def run(self) -> None:
        from ctxmt_fairseq.analysis.group_use import group_use
        from ctxmt_fairseq.text.annotation import read_annotation
        from ctxmt_fairseq.text.text_lines import read_sentences

        sentences = read_sentences(self.text)
        annotation = read_annotation(self.annotation, sentences) if self.annotation else None
        loaded = self.model.load_one(self.path)
        found = group_use(loaded, sentences, annotation, self.max_tokens)
        print(found.table(), "", found.summary, sep="\n")
        shown, more = found.map(), found.as_dict()
        self.files.draw(shown, {**shown.as_dict(), **more}, more, annotate=True)
