"""Settings for all tests."""

from hypothesis import settings

# No time limit per example: the test machines are small and shared, and pytest has its own limit.
settings.register_profile("ctxmt", deadline=None, derandomize=True)
settings.load_profile("ctxmt")
