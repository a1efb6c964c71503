"""COMET, of sentences alone and in context: metrics of the package unbabel-comet (the extra ``comet``)."""
