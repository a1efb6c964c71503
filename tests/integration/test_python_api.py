"""``Translator`` with trained models: subwords, own translations as context, and the search's scores."""

import re
import subprocess
import sys

import pytest

from ctxmt_fairseq.translator import Translator
from tests.helpers.documented import ROOT, blocks
from tests.helpers.probed_models import checkpoint
from tests.integration.commands import ENVIRONMENT, read


@pytest.fixture(scope="module")
def documents(corpus):
    """The documents of test2, 43 sentences: (source, references)."""
    ids = read(corpus / "test2.docids")
    names = list(dict.fromkeys(ids))
    return [
        [
            [line for line, own in zip(read(corpus / f"test2.{side}"), ids, strict=True) if own == name]
            for name in names
        ]
        for side in ("en", "fr")
    ]


def test_the_search_ranks_by_the_scores_of_its_translations(s2to2, documents, monkeypatch, caplog):
    """A sentence's score is that of its text after the translations before it, whoever computes it; more
    where a separator ends it, which is likelier than </s> then."""
    model = Translator.load(s2to2 / "checkpoint_last.pt", beam=2, lenpen=0.5, max_len_b=20, device="cpu")
    own_cut = {}  # whether SentencePiece would cut a translation's text as the model did

    def decode(tokens, decode=model.loaded.decode_target):
        text = decode(tokens)
        own_cut[text] = own_cut.get(text, True) and model.loaded.encode_target(text).equal(tokens.cpu())
        return text

    monkeypatch.setattr(model.loaded, "decode_target", decode)
    found = model.n_best(documents[0])
    best = [[nbest[0].text for nbest in document] for document in found]
    differences = []
    for document, scores, texts in zip(found, model.score(documents[0], best), best, strict=True):
        for line, (nbest, score) in enumerate(zip(document, scores, strict=True)):
            assert 1 <= len(nbest) <= 2
            assert [each.score for each in nbest] == sorted((each.score for each in nbest), reverse=True)
            assert score.sum == pytest.approx(sum(score.tokens))
            if all(own_cut[text] for text in texts[max(line - 1, 0) : line + 1]):  # with its target context
                differences.append(nbest[0].score - score.sum / len(score.tokens) ** 0.5)
    assert len(differences) > 20 and min(differences) > -1e-4
    assert sum(difference < 1e-4 for difference in differences) > 0.8 * len(differences)


def test_references_are_more_probable_in_their_own_context(s2to2, documents):
    model = Translator.load(s2to2 / "checkpoint_last.pt", device="cpu")
    own, other = (
        sum(score.sum for document in each.score(*documents) for score in document)
        for each in (model, model.with_options(context_selection="random"))
    )
    assert own > other


# What a server asks the page's service: a document, and something else.
REQUESTS = """
import asyncio, json

async def answer(body):
    sent = []
    async def receive():
        return {"type": "http.request", "body": json.dumps(body).encode()}
    async def send(message):
        sent.append(message)
    scope = {"type": "http", "method": "POST", "path": "/translate", "headers": [], "query_string": b""}
    await app(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])

status, found = asyncio.run(answer(["The cat is asleep.", "It is tired."]))
print(status, len(found))
status, found = asyncio.run(answer("It is tired."))
print(status, found["error"])
"""


def test_the_page_of_the_documentation(s2to2, corpus, tmp_path):
    """Its snippets, one after the other, in a process of their own: they work, and nothing else is said."""
    snippets = blocks(ROOT / "docs" / "python.md", "python")
    assert len(snippets) == 8
    (tmp_path / "averaged.pt").symlink_to(s2to2 / "checkpoint_last.pt")
    (tmp_path / "mtcue.pt").symlink_to(checkpoint(tmp_path / "mtcue", "metadata_context"))
    (tmp_path / "en-fr-pronouns").symlink_to(corpus / "demo" / "contrastive" / "pronoun-distance-1")
    shape = "print([len(d) for d in model.translate([['The cat is asleep.', 'It is tired.'], ['No.']])])\n"
    (tmp_path / "notebook.py").write_text("".join([*snippets, REQUESTS, shape]), encoding="utf-8")
    program = [sys.executable, "notebook.py"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
    lines = done.stdout.splitlines()
    assert lines[-1] == "[2, 1]" and "documents[0]: expected a list of sentences, found a str" in lines
    assert lines[-3] == "200 2" and lines[-2].startswith("400 documents[0]: expected a list")
    scores = [line for line in lines if re.fullmatch(r"-[\d.]+ \[.*\]", line)]
    ranked = [line for line in lines if re.fullmatch(r"-[\d.]+ \S.*", line) and line not in scores]
    assert len(scores) == 2 and 1 <= len(ranked) <= 3
    assert any(line.startswith("en-fr-pronouns (sum-current)") for line in lines)
    assert done.returncode == 0, done.stderr
    talk = [line for line in done.stderr.splitlines() if "unknown to the vocabulary" not in line]
    told = [line for line in talk if "trained without the metadata fields speaker, and reads" in line]
    assert len(told) == 1, "the store of this model has the other field of the page, genre"
    assert all("ended at the greatest length" in line for line in talk if line not in told)
