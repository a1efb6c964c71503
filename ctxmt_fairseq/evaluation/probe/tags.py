"""Reads tags of the words in references, such as those of MuDA (Fernandes et al. 2023).

The file has a JSON object for each line of the text: ``{"tags": [[], ["pronouns"], ["formality"]]}`` gives a
list of tags for every white-space word of the reference. If the object also has ``"words"``, the tags are
those of these words, which may split the reference differently ("c'", "est", "elle", "."). A white-space word
then has the tags of all its parts.
"""

from typing import Any, List, Sequence, Tuple

from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.text.json_files import Place, get, json_lines
from ctxmt_fairseq.text.text_lines import PathLike

Tags = List[Tuple[str, ...]]  # of each white-space word


def read_tags(path: PathLike, references: Sequence[str]) -> List[Tags]:
    """The tags of the words in every reference."""
    found = []
    for number, (place, record) in enumerate(json_lines(path)):
        if number == len(references):
            raise BadInput(f"expected {len(references)} lines, as many as the text has, found more", path)
        found.append(_tags(place, record, references[number]))
    if len(found) < len(references):
        raise BadInput(f"expected {len(references)} lines, as many as the text has, found {len(found)}", path)
    return found


def _tags(place: Place, record: Any, reference: str) -> Tags:
    entries = get(place, record, "tags", list)
    for entry in entries:
        if not isinstance(entry, list) or not all(isinstance(name, str) for name in entry):
            raise place.error("expected 'tags' to be a list with a list of strings for every word")
    words = reference.split()
    if "words" not in record:
        if len(entries) != len(words):
            raise place.error(f"expected tags of the reference's {len(words)} words, found {len(entries)}")
        return [tuple(dict.fromkeys(entry)) for entry in entries]
    tokens = get(place, record, "words", list)
    if len(tokens) != len(entries) or not all(isinstance(token, str) for token in tokens):
        raise place.error(f"expected 'words' to be {len(entries)} strings, as many as there are tags")
    tokens = ["".join(token.split()) for token in tokens]
    if "".join(tokens).casefold() != "".join(words).casefold():
        raise place.error("expected 'words' to be the words of the reference")
    of_character = [name for token, name in zip(tokens, entries, strict=True) for _ in token.casefold()]
    tags, at = [], 0
    for word in words:
        end = at + len(word.casefold())
        tags.append(tuple(dict.fromkeys(name for names in of_character[at:end] for name in names)))
        at = end
    return tags
