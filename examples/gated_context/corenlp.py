"""Writes what CoreNLP found in a text as the files of ctxmt analyse antecedents and compare pronouns.

JSON is CoreNLP's output of each document, in their order, from a file with the document's lines as they are:
  java edu.stanford.nlp.pipeline.StanfordCoreNLP -annotators tokenize,ssplit,pos,lemma,ner,parse,coref \\
      -ssplit.eolonly -outputFormat json -file document.txt
Writes OUT.coref.jsonl (pronouns with an antecedent in a line before: the nearest such line, there the last
mention that is more than a pronoun, else the last) and OUT.words.jsonl (parts of speech and lemmas).

Example: python corenlp.py parsed/*.json --text test.en --docids test.docids --out test
"""

import json
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from ctxmt_fairseq.base.command import Command, argument, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.files import check_outputs, write_files
from ctxmt_fairseq.base.paths import Input, OutputPrefix
from ctxmt_fairseq.cli.main import script
from ctxmt_fairseq.text.documents import Documents
from ctxmt_fairseq.text.json_files import Place, get, load_json
from ctxmt_fairseq.text.text_lines import PathLike, read_sentences

PRONOMINAL = "PRONOMINAL"


class Converted(NamedTuple):
    """References, which are records of ``text.coreference``, and words, of ``text.annotation``, one for each
    line."""

    references: List[Dict[str, Any]]
    words: List[Dict[str, Any]]


def convert_corenlp(
    paths: Sequence[PathLike], sentences: Sequence[str], documents: Documents, source: str = "corenlp"
) -> Converted:
    """Convert CoreNLP's JSON of each document of a text, in their order.

    A pronoun is a mention of one token that CoreNLP calls pronominal. Its antecedent is in the nearest line
    before that has mentions of the same chain: the last nominal one there, or else the last one. A pronoun
    without a mention in a line before is left out.

    Args:
        paths: a file for each document, made with ``-ssplit.eolonly`` from its lines; CoreNLP skips empty
            lines.
        sentences: N lines.
    """
    bounds = list(zip(documents.starts[:-1].tolist(), documents.starts[1:].tolist(), strict=True))
    if len(paths) != len(bounds):
        raise BadInput(f"expected {len(bounds)} files of CoreNLP, one for each document, found {len(paths)}")
    references: List[Dict[str, Any]] = []
    words: List[Dict[str, Any]] = [{"words": []} for _ in sentences]
    for path, (start, end) in zip(paths, bounds, strict=True):
        place, content = Place(path), load_json(path)
        lines = [line for line in range(start, end) if sentences[line]]
        parsed = get(place, content, "sentences", list)
        if len(parsed) != len(lines):
            raise place.error(f"expected {len(lines)} sentences, the document's lines, found {len(parsed)}")
        tokens = []
        for line, sentence in zip(lines, parsed, strict=True):
            tokens.append(_tokens(place, sentence, sentences[line], line))
            words[line] = {"words": tokens[-1]}
        references += _references(place, content, lines, tokens, source)
    references.sort(key=lambda record: (record["line"], record["pronoun"]))
    return Converted(references, words)


def _tokens(place: Place, sentence: Any, text: str, line: int) -> List[Dict[str, Any]]:
    """Find the tokens' places in the line, each after the one before."""
    found, at = [], 0
    for token in get(place, sentence, "tokens", list):
        original = get(place, token, "originalText", str)
        start = text.find(original, at)
        if not original or start < 0 or text[at:start].strip():
            raise place.error(f"expected the text of line {line + 1}, found {original[:40]!r} in it")
        at = start + len(original)
        record = {"text": original, "start": start, "end": at}
        for key in ("pos", "lemma"):
            if key in token:
                record[key] = get(place, token, key, str)
        found.append(record)
    return found


def _references(
    place: Place, content: Any, lines: Sequence[int], tokens: Sequence[List[Dict[str, Any]]], source: str
) -> Iterator[Dict[str, Any]]:
    for chain in get(place, content, "corefs", dict).values():
        if not isinstance(chain, list):
            raise place.error("expected a list of mentions in each chain of 'corefs'")
        mentions = sorted(_mention(place, mention, tokens) for mention in chain)
        for sentence, span, nominal, count in mentions:
            before = [each for each in mentions if each[0] < sentence]
            if nominal or count > 1 or not before:
                continue
            nearest = [each for each in before if each[0] == before[-1][0]]
            chosen = ([each for each in nearest if each[2]] or nearest)[-1]
            yield {
                "line": lines[sentence] + 1,
                "pronoun": list(span),
                "source": source,
                "antecedent": {"line": lines[chosen[0]] + 1, "span": list(chosen[1]), "nominal": chosen[2]},
            }


def _mention(
    place: Place, mention: Any, tokens: Sequence[List[Dict[str, Any]]]
) -> Tuple[int, Tuple[int, int], bool, int]:
    """Read a mention: its sentence, from 0, its place in the line, whether it is nominal, and its number of
    tokens."""
    number, first, behind = (get(place, mention, key, int) for key in ("sentNum", "startIndex", "endIndex"))
    if not 1 <= number <= len(tokens) or not 1 <= first < behind <= len(tokens[number - 1]) + 1:
        raise place.error(f"expected a mention within the text, found tokens {first} to {behind} of {number}")
    own = tokens[number - 1][first - 1 : behind - 1]
    nominal = get(place, mention, "type", str) != PRONOMINAL
    return number - 1, (own[0]["start"], own[-1]["end"]), nominal, len(own)


class Corenlp(Command):
    documents: List[Input] = argument("JSON", "a file for each document of the text")
    text: Input = option("one sentence per line")
    docids: Input = option("document ids, one per line")
    name: str = option("of the source", "corenlp", metavar="TEXT")
    out: OutputPrefix = option("how the files' names begin")

    def run(self) -> None:
        outputs = [f"{self.out}.{ending}.jsonl" for ending in ("coref", "words")]
        check_outputs(*outputs)
        sentences = read_sentences(self.text)
        documents = Documents.read(self.docids, len(sentences))
        found = convert_corenlp(self.documents, sentences, documents, self.name)
        contents = [
            "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records) for records in found
        ]
        write_files(zip(outputs, contents, strict=True))
        nominal = sum(record["antecedent"]["nominal"] for record in found.references)
        before = f"{len(found.references)} pronouns with an antecedent in a line before"
        print(f"{before}, {nominal} of them nominal")


def main(arguments: Sequence[str]) -> int:
    return script("corenlp.py", Corenlp, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
