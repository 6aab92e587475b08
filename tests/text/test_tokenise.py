"""The tokeniser's library, where it cannot do all it would."""

import subprocess
import sys

NO_SEMAPHORES = """
import _multiprocessing

def refuse(*_, **__):
    raise PermissionError(13, "Permission denied")

_multiprocessing.SemLock = type("SemLock", (), {"SEM_VALUE_MAX": 1, "__new__": refuse})
from morphlm.text.tokenise import moses_tokenise

print(moses_tokenise("Ano, ne.", "cs"))
"""


def test_without_shared_memory_nothing_is_said() -> None:
    # As in a container whose /dev/shm cannot be written to: sacremoses imports joblib, which then warns.
    done = subprocess.run([sys.executable, "-c", NO_SEMAPHORES], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("Ano , ne .\n", "")
