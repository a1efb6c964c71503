"""Fixtures that several files share."""

from tests.helpers.hostile_checkpoints import nothing_ran, pristine, state  # noqa: F401 (fixtures)
from tests.helpers.language_identifier import identifier  # noqa: F401
from tests.helpers.spacy_stand_in import french_model  # noqa: F401
