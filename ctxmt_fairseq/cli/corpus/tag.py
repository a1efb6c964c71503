"""Tags the words of a translation that its sentences alone do not decide, for probe --tags and --by tag, and
for --upsample and --token-weights tags in training; --suite makes test sets of them.

  pronoun     "it" and "they" in a language with genders, if the antecedent stands in an earlier line: no noun
              before the pronoun in its own line agrees with it. There is no coreference model: the nearest
              noun that agrees in gender and number is taken for the antecedent. en to fr, de, ru
  formality   tu and vous, their forms and verbs. To fr, de, ru; without verbs to es, it, nl, cs, pl
  ellipsis    verbs that the source leaves out ("I did."). en to fr, de, ru
  inflection  nouns in a line without a verb, in a case that only an earlier line explains. To ru; where the
              annotation has "case" to any language
  cohesion    words that three earlier lines of the document translate alike. All languages with blanks

Words are annotated and aligned as by ctxmt corpus annotate and align (extras "linguistics" and "align"), or
by other tools, in the files of --source-annotation, --target-annotation and --alignment. FILE gets a JSON
line for each line of the corpus:
  {"words": ["Elle", "brille", "."], "tags": [["pronoun"], [], []]}

--suite DIR gets NAME.jsonl for each phenomenon: examples with the form that is expected of a translation, for
ctxmt score-forms; those of pronouns also with candidates, for ctxmt contrast, unless another word of the line
may show the gender (an adjective, a participle). NAME.current marks their lines. --matching words finds forms
that are written together with others, too (t'aime, peux-tu):
  ctxmt translate MODEL PREFIX.en --docids PREFIX.docids --output hyp.fr
  ctxmt score-forms DIR/formality.jsonl hyp.fr --current DIR/formality.current --matching words

Example: ctxmt corpus tag text/train --source-lang en --target-lang fr --output train.tags.jsonl
"""

import logging
from collections import Counter
from contextlib import ExitStack
from typing import Optional

from ctxmt_fairseq.base.command import option
from ctxmt_fairseq.base.paths import Input, Output, OutputFolder
from ctxmt_fairseq.corpora.corpus_command import OfCorpus, processes


class Tag(OfCorpus):
    context: int = option("lines before a line that are looked at, and that examples have", 5)
    source_annotation: Optional[Input] = option("words of the source side, see ctxmt corpus annotate")
    target_annotation: Optional[Input] = option("words of the target side")
    alignment: Optional[Input] = option("words that translate each other, see ctxmt corpus align")
    workers: int = processes()
    output: Output = option("the tags")
    suite: Optional[OutputFolder] = option("write test sets into this new folder")

    def run(self) -> None:
        import json

        from tqdm.auto import tqdm

        from ctxmt_fairseq.base.files import open_outputs
        from ctxmt_fairseq.base.folders import folder_output
        from ctxmt_fairseq.base.tables import aligned_table
        from ctxmt_fairseq.corpora.phenomena.tagging import TAGS, Suites, tagged_lines

        files = self.text_files(ids_optional=True)
        if not files.has("docids"):
            said = "%s: no such file: each line is a document, so no earlier line decides anything"
            logging.getLogger(__name__).warning(said, files.path("docids"))
        annotation = self.source_annotation, self.target_annotation
        tagged_text = tagged_lines(files, annotation, self.alignment, self.context, self.workers)
        words: Counter = Counter()
        lines: Counter = Counter()
        with ExitStack() as end:
            folder = end.enter_context(folder_output(self.suite)) if self.suite else None
            output = end.enter_context(open_outputs([self.output]))[self.output]
            suites = Suites(folder, end) if folder else None
            for tagged in tqdm(tagged_text, unit=" lines", disable=None):
                parts, tags = tagged.line.parts(tagged.hits)
                output.write(f"{json.dumps({'words': parts, 'tags': tags}, ensure_ascii=False)}\n".encode())
                words.update(hit.tag for hit in tagged.hits)
                lines.update({hit.tag for hit in tagged.hits})
                if suites:
                    suites.add(tagged)
        columns = {"words": words, "lines": lines}
        if suites:
            columns |= {"examples": suites.examples, "with candidates": suites.candidates}
        rows = [[tag, *(str(counts[tag]) for counts in columns.values())] for tag in TAGS]
        print(aligned_table([["", *columns], *rows]))
