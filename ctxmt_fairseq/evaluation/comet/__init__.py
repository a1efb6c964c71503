"""COMET for sentences alone and in context, with the package unbabel-comet (the extra ``comet``)."""
