"""What registration says of the environment."""

from importlib import metadata

import pytest

from ctxmt_fairseq.generation import registration


@pytest.mark.parametrize("names", [("fairseq",), ("fairseq-fixed",), ("fairseq", "fairseq-fixed")])
def test_two_fairseqs_are_told(names, monkeypatch, caplog):
    def version(name):
        if name not in names:
            raise metadata.PackageNotFoundError(name)
        return "0.12"

    monkeypatch.setattr(metadata, "version", version)
    registration.warn_of_two_fairseqs.__wrapped__()
    said = [record.getMessage() for record in caplog.records]
    if len(names) == 1:
        assert said == []
    else:
        (line,) = said
        assert line.startswith(
            "fairseq 0.12 and fairseq-fixed 0.12 are installed over each other; to have one: pip "
        )
