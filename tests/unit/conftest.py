"""Fixtures that several files share."""

from tests.unit.hostile_checkpoints import nothing_ran, pristine, state  # noqa: F401 (fixtures)
from tests.unit.language_identifier import identifier  # noqa: F401
from tests.unit.spacy_stand_in import french_model  # noqa: F401
