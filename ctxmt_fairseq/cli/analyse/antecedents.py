"""Does attention find what a pronoun refers to? (Voita et al. 2018, tables 6 to 9.)

Of each pronoun with a nominal antecedent in the context: does the token of the source context with the
highest weight (without <bos>, </s> and punctuation) lie in it? With --annotation the first, the last and a
random noun of the context are compared, antecedents have one noun, and contexts with several nouns are shown
apart.
With several sources in the file, one of them --truth, such as people, the others are compared with it beside
attention.

--coreference has a JSON line for each pronoun; lines count from 1, places are characters:
  {"line": 7, "pronoun": [0, 2], "source": "corenlp",
   "antecedent": {"line": 6, "span": [12, 20], "nominal": true}}       (or null)
--annotation has one for each line of TEXT.SRC: {"words": [{"text", "start", "end", "pos"}]}. From
CoreNLP's output examples/gated_context/corenlp.py makes both, ctxmt corpus annotate makes the latter.

Example: ctxmt analyse antecedents checkpoint_best.pt text/test --coreference test.coref.jsonl \\
    --annotation test.words.jsonl --json antecedents.json
"""

from typing import Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input
from ctxmt_fairseq.cli.options.result_files import Json
from ctxmt_fairseq.cli.options.text import TextAttention


class Antecedents(TextAttention):
    coreference: Input = option("pronouns and antecedents")
    annotation: Optional[Input] = option("parts of speech of the source")
    truth: Optional[str] = option("whose antecedents are right (default: the only one)", metavar="SOURCE")
    results: Json

    def run(self) -> None:
        from ctxmt_fairseq.analysis.antecedents import agreement
        from ctxmt_fairseq.text.annotation import is_noun, read_annotation
        from ctxmt_fairseq.text.coreference import only_source, read_coreference

        text, sentences = self.attention("encoder")  # a pronoun is a word of the source
        references = read_coreference(self.coreference, text.sentences)
        truth = only_source(references, self.truth, "--truth", self.coreference)
        nouns = None
        if self.annotation:
            annotated = read_annotation(self.annotation, text.sentences)
            nouns = [[word for word in words if is_noun(word)] for words in annotated]
        found = agreement(sentences, references, truth, nouns)
        if not found.judged:
            reasons = ", ".join(f"{count} {why}" for why, count in found.left_out.items())
            raise BadInput(f"expected pronouns with an antecedent in the context, found {reasons or 'none'}")
        print(found.table())
        numbers = {"agreement": found.records(), "confusions": found.confusions()}
        self.results.write({"truth": truth, **numbers, "left_out": dict(found.left_out)})
