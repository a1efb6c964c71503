"""A package, so that an installed one of this name is not found in its place."""
