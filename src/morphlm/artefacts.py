"""Results that are kept under a hash of what they depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def fingerprint(parts: Mapping[str, Any]) -> str:
    """A hash of what a training depends on: arrays, texts and settings."""
    digest = hashlib.sha256()
    for name, part in sorted(parts.items()):
        digest.update(f"\n{name}\n".encode())
        if isinstance(part, np.ndarray):
            digest.update(np.ascontiguousarray(part).data)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()
