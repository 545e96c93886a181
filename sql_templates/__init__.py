"""Canonical utterances and the programs they stand for, in YAML. Data only; `engine.translate` reads them."""
