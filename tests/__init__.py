"""A package, so that an installed one of this name (opustools has one) is not found in its place."""
