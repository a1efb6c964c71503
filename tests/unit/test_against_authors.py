"""What the comparisons with the authors' programs share: scripts/against_authors."""

import sys

from scripts.against_authors import comparison


def test_a_checkout_is_found_as_it_was_put_into_the_path(tmp_path, monkeypatch):
    """focused_concat takes it out again; a shell completes the folder's name with a slash."""
    monkeypatch.setattr(comparison, "shims", lambda: None)
    monkeypatch.setattr(sys, "argv", ["focused_concat", f"{tmp_path}/"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = comparison.checkout()
    assert sys.path[0] == str(path)
