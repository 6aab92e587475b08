"""The code of kernels in files: what is written, what is read, and the names, which say all that it depends on."""

from __future__ import annotations

import hashlib
import importlib
import pickle
import sys
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
from numba.core.caching import _Cache

from morphlm.compiling import code_files
from morphlm.compiling.libraries import CalleeLibrary, load_library

# Numba has no types for these.
config: Any = importlib.import_module("numba.core.config")
compile_result: Any = importlib.import_module("numba.core.compiler").compile_result
rtsys: Any = importlib.import_module("numba.core.runtime").rtsys
dumps: Any = importlib.import_module("numba.core.serialize").dumps

SOURCES = code_files.KernelSources(code_files.PACKAGE)
# What changes the code that Numba makes, besides the source, the types of the arguments and the CPU.
_VERSIONS = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__)
_SETTINGS = (
    "BOUNDSCHECK",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO_DEFAULT",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
    "USING_SVML",
)


class KernelCache(_Cache):
    """The code of one kernel, in files that `code_files` keeps: one for each signature and type of CPU."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._source, self._enabled = _source_file(function.__code__.co_filename)

    @property
    def cache_path(self) -> str | None:
        folder = self._folder()
        return None if folder is None else str(folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature, if there is some."""
        stored = self._read(sig, target_context, "kernel")
        if stored is None:
            return None
        library, description, environment, signature, initialisers, environments = stored
        rtsys.initialize(target_context)  # what compiled code needs; only the compiler needs all that Numba knows
        for initialise in initialisers:
            initialise()
        library = load_library(target_context.codegen(), *library)
        function = target_context.get_executable(library, description, environment)
        result = _result(target_context, library, description, environment, signature)
        return result._replace(entry_point=function, referenced_envs=environments)

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep machine code that was just compiled, unless it holds addresses of this process."""
        library, module = cres.library, cres.library._final_module
        defined = [*module.functions, *module.global_variables]
        symbols = frozenset(symbol.name for symbol in defined if not symbol.is_declaration)
        compiled = library.name, library._get_compiled_object(), symbols
        self._write(sig, "kernel", cres, compiled, tuple(cres.reload_init), cres._find_referenced_environments())

    def has_overload(self, sig: Any, target_context: Any) -> bool:
        """Whether there is a file for a signature."""
        name = self._file_name(sig, target_context.codegen(), "kernel")
        folders = code_files.readable_folders(self._source.parent, config.CACHE_DIR)
        return self._enabled and any((folder / name).is_file() for folder in folders)

    def load_callee(self, arguments: tuple[Any, ...], target_context: Any, kind: str) -> Any:
        """The code for other kernels to link, if there is some."""
        stored = self._read(arguments, target_context, kind)
        if stored is None:
            return None
        (name, bitcode), description, environment, signature = stored
        library = CalleeLibrary.from_bitcode(target_context.codegen(), name, bitcode)
        return _result(target_context, library, description, environment, signature)

    def save_callee(self, arguments: tuple[Any, ...], cres: Any, kind: str) -> None:
        """Keep what kernels link."""
        library = cres.library
        library._ensure_finalized()
        code = library.name, library._shared_module.as_bitcode()
        self._write(arguments, kind, cres, code)

    def _read(self, sig: Any, target_context: Any, kind: str) -> Any:
        if not self._enabled:
            return None
        name = self._file_name(sig, target_context.codegen(), kind)
        for place in code_files.readable_folders(self._source.parent, config.CACHE_DIR):
            content = code_files.read_code(place / name)
            if content is not None:
                stored_sig, stored = pickle.loads(content)
                return stored if stored_sig == sig else None
        return None

    def _write(self, sig: Any, kind: str, cres: Any, code: Any, *others: Any) -> None:
        folder = self._folder()
        code_files.say_notes()
        if folder is None or cres.library.has_dynamic_globals or cres.lifted:
            return
        cres.fndesc.typemap = cres.fndesc.calltypes = None  # of no use later, and cannot always be pickled
        content = dumps((sig, (code, cres.fndesc, cres.environment, cres.signature, *others)))
        code_files.write_code(folder / self._file_name(sig, cres.codegen, kind), content)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing: code of an older source has another name."""

    def _folder(self) -> Path | None:
        return code_files.code_folder(self._source.parent, config.CACHE_DIR) if self._enabled else None

    def _file_name(self, sig: Any, codegen: Any, kind: str) -> str:
        """The same in every folder, and another for whatever gives other code."""
        function, code = self._function, self._function.__code__
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
        settings = tuple(repr(getattr(config, name, None)) for name in _SETTINGS)
        digest = SOURCES.digest_of(self._source, config.CACHE_DIR)
        described = repr((kind, sig, codegen.magic_tuple(), _VERSIONS, settings, digest, code.co_code, dumps(closure)))
        key = hashlib.sha256(described.encode()).hexdigest()[:32]
        name = f"{self._source.stem}.{function.__qualname__}-{code.co_firstlineno}".replace("<", "").replace(">", "")
        return f"{name}.{kind}.{key}{code_files.SUFFIX}"


@cache
def _source_file(name: str) -> tuple[Path, bool]:
    """A source, and whether code may be kept for it: it is there, and as it was when the process began."""
    path = Path(name).resolve()
    return path, path.is_file() and SOURCES.is_unchanged(path)


def _result(target_context: Any, library: Any, description: Any, environment: Any, signature: Any) -> Any:
    """What Numba's compiler returns, for code that was compiled before."""
    return compile_result(
        typing_context=target_context.typing_context,
        target_context=target_context,
        signature=signature,
        objectmode=False,
        lifted=(),
        fndesc=description,
        library=library,
        environment=environment,
    )
