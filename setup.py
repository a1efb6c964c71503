"""For tools that ask for this file; pyproject.toml has all that they need."""

from setuptools import setup

setup()
