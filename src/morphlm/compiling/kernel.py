"""What `njit` makes of a function, how it is compiled and where its code is kept."""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite.binding import Linkage, parse_bitcode
from numba import types
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.manager import DataModelManager
from numba.core.datamodel.models import OpaqueModel, TupleModel, UniTupleModel
from numba.core.datamodel.registry import default_manager
from numba.core.errors import NumbaValueError
from numba.core.imputils import lower_constant
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import make_concrete_template
from numba.extending import register_model

from morphlm.compiling import code_files, helpers
from morphlm.compiling.lowering import KernelLowering
from morphlm.compiling.shortcuts import shortcuts
from morphlm.compiling.signatures import kernel_named, parse_signature, signature_text
from morphlm.compiling.wrappers import shared_unboxing
from morphlm.progress import SilentBar, notify, shows_bars, step_bar

# Numba has no types for these.
config: Any = importlib.import_module("numba.core.config")
compile_result: Any = importlib.import_module("numba.core.compiler").compile_result
FunctionCompiler: Any = importlib.import_module("numba.core.dispatcher")._FunctionCompiler
rtsys: Any = importlib.import_module("numba.core.runtime").rtsys
lookup_environment: Any = importlib.import_module("numba.core.environment").lookup_environment
normalize_signature: Any = importlib.import_module("numba.core.sigutils").normalize_signature
unliteral: Any = importlib.import_module("numba.core.types").unliteral
dumps: Any = importlib.import_module("numba.core.serialize").dumps
init_extensions: Any = importlib.import_module("numba.core.entrypoints").init_all
typeof: Any = importlib.import_module("numba").typeof
tuple_type: Any = importlib.import_module("numba.core.types").BaseTuple.from_types
from_dtype: Any = importlib.import_module("numba.np.numpy_support").from_dtype
map_layout: Any = importlib.import_module("numba.np.numpy_support").map_layout

PYTHON_WRAPPER = "_ZN7cpython"  # how names of functions begin that Python calls
QUIETLY = "MORPHLM_COMPILING"  # an environment variable; with the value `quiet` nothing is said
SOURCES = code_files.KernelSources(code_files.PACKAGE)
# Of Numba's compiler: for closures, `with` blocks, `literally`, `literal_unroll`, inlined overloads and `prange`, which
# no kernel has, for branches that a constant decides, and for those who debug Numba.
UNUSED_PASSES = {
    "with_lifting",
    "inline_closure_likes",
    "make_function_op_code_to_jit_function",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "dead_branch_prune",
    "rewrite_semantic_constants",
    "inline_overloads",
    "nopython_supported_feature_validation",
    "annotate_types",
    "dump_parfor_diagnostics",
}
ELEMENTS = frozenset(str(kind) for kind in (*types.integer_domain, *types.real_domain)) | {"bool"}  # of arrays
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


# ---------------------------------------------------------------- libraries


class SelfContainedLibrary(JITCodeLibrary):
    """The machine code of one kernel, in which nothing can be replaced by code of another one.

    It is optimised once, when all callees are there. Numba does so with each function by itself and then twice with the
    whole, in which it takes out counts of who uses an array; there are few of them here.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """What translates Python's objects runs once a call: to optimise it took a tenth of the time."""
        for function in _defined(self):
            if function.name.startswith(PYTHON_WRAPPER):
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
        codegen: Any = self._codegen
        passes, options = codegen._module_pass_manager()
        passes.run(self._final_module, options)

    def _finalize_final_module(self) -> None:
        """Before machine code is made: callees become private."""
        _change_linkage(self._final_module, Linkage.linkonce_odr, Linkage.internal)
        super()._finalize_final_module()  # type: ignore[no-untyped-call]


class CalleeLibrary(JITCodeLibrary):
    """The code of a callee, of which every kernel that calls it takes a copy and optimises it; no machine code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Nothing yet."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        _change_linkage(self._final_module, Linkage.external, Linkage.linkonce_odr)
        self._shared_module, self._finalized = self._final_module, True

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> CalleeLibrary:
        library = cls(codegen, name)
        library._final_module = parse_bitcode(bitcode)
        library._shared_module, library._finalized = library._final_module, True
        return library


class NumbasLibrary(CalleeLibrary):
    """The same for functions of Numba's that a kernel calls, such as those behind `np.empty`.

    Those that Python can call as well get machine code, as Numba would make it.
    """

    _is_called_by_python = False

    def _finalize_final_module(self) -> None:
        self._is_called_by_python = any(function.name.startswith(PYTHON_WRAPPER) for function in _defined(self))
        if self._is_called_by_python:
            JITCodeLibrary._optimize_final_module(self)  # type: ignore[no-untyped-call]
            JITCodeLibrary._finalize_final_module(self)  # type: ignore[no-untyped-call]
        else:
            super()._finalize_final_module()

    @property
    def codegen(self) -> Any:
        return self._codegen if self._is_called_by_python else _WithoutEnvironments(self._codegen)


class _WithoutEnvironments:
    """Where machine code is to find its constants is said when there is some."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Later."""


class _PassedWhole:
    """A record is handed to a function as one value. Numba hands over each part of each array in it by itself.

    With tens of arrays in a record that is most of what there is to compile.
    """

    get_value_type: Callable[[], Any]

    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, _builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, _builder: Any, value: Any) -> Any:
        return value


class RecordModel(_PassedWhole, TupleModel):
    """Of a NamedTuple."""


class UniformRecordModel(_PassedWhole, UniTupleModel):
    """Of a NamedTuple whose fields have all the same type."""


@cache
def _data_models() -> Any:
    """Numba's, also those that it loads later, but for records; only for what is compiled here."""
    models: Any = DataModelManager().chain(default_manager)  # type: ignore[no-untyped-call]
    models.register(types.NamedTuple, RecordModel)
    models.register(types.NamedUniTuple, UniformRecordModel)
    return models


def _callee_kind() -> str:
    """`callee` for kernels; `plain_callee` for functions of other packages, which hand over records as Numba does."""
    models: Any = cpu_target.target_context.data_model_manager
    return "callee" if models is _data_models() else "plain_callee"


@contextmanager
def _in_our_ways() -> Iterator[None]:
    """Libraries and records as above while a kernel is compiled, which happens in one thread at a time."""
    context: Any = cpu_target.target_context
    codegen, models = context.codegen(), context.data_model_manager
    codegen._library_class, context.data_model_manager = NumbasLibrary, _data_models()
    try:
        yield
    finally:
        context.data_model_manager = models
        del codegen._library_class  # that of the class stays


def _defined(library: Any) -> list[Any]:
    return [function for function in library._final_module.functions if not function.is_declaration]


def _change_linkage(module: Any, before: Linkage, after: Linkage) -> None:
    for function in module.functions:
        if not function.is_declaration and function.linkage == before:
            function.linkage = after


def _load_library(codegen: Any, name: str, machine_code: bytes, symbols: frozenset[str]) -> Any:
    """A library that was compiled before."""
    library: Any = SelfContainedLibrary(codegen, name)  # type: ignore[no-untyped-call]
    library.enable_object_caching()
    library._set_compiled_object(machine_code)
    library._finalize_final_module()
    codegen._engine._defined_symbols |= symbols
    return library


# ---------------------------------------------------------------- compilers


def _without_unused_passes(passes: Any) -> Any:
    """Numba's passes but for those that find nothing in a kernel; they took a tenth of the time to compile."""
    kept = [
        (KernelLowering if step is NativeLowering else step, what)
        for step, what in passes.passes
        if step.name() not in UNUSED_PASSES
    ]
    passes.passes, passes._finalized = kept, False
    passes.finalize()
    return passes


class KernelCompiler(Compiler):
    """Numba's compiler, but for the library; C code does not call kernels."""

    library_class: type[JITCodeLibrary] = SelfContainedLibrary

    def define_pipelines(self) -> Any:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        library = self.library_class(codegen, name)
        library.enable_object_caching()  # type: ignore[no-untyped-call]
        self.state.library = library
        self.state.flags.no_cfunc_wrapper = True
        return [_without_unused_passes(*super().define_pipelines())]  # type: ignore[no-untyped-call]


class CalleeCompiler(KernelCompiler):
    """The same for callees: neither Python calls them nor is there anything to call."""

    library_class = CalleeLibrary

    def define_pipelines(self) -> Any:
        self.state.flags.no_cpython_wrapper = self.state.flags.no_compile = True
        return super().define_pipelines()


def callee_type(argument: Any) -> Any:
    """The type that a callee has for an argument: int64 for literals and smaller integers, which it holds as well."""
    plain: Any = unliteral(argument)
    is_small = plain in (types.int8, types.int16, types.int32)
    return types.int64 if is_small else plain


class Compilations:
    """What is compiled in this process: people are told, and helpers compile what will be needed next."""

    def __init__(self) -> None:
        self.requested: list[tuple[Kernel, tuple[Any, ...]]] = []  # all signatures that Python called, compiled or not
        self._has_begun, self._is_told = False, False
        self._expected, self._compiled = 0, 0
        self.seconds = 0.0  # that the program has waited for machine code
        self._shown: Any = None  # the bar, while something is compiled
        self._helpers: helpers.Helpers | None = None

    def was_done_by_helper(self, kernel: Kernel, arguments: tuple[Any, ...]) -> bool:
        """Whether a kernel that was missing is in the cache by now. The first time, helpers are started."""
        name = text_of(kernel, arguments)
        if not self._has_begun:
            self._has_begun = True
            self._start_helpers(name)
        if self._helpers is None:
            return False
        with self._bar(kernel) as bar:
            return self._helpers.take(name, lambda done: bar.update(done - bar.n))

    @contextmanager
    def announced(self, kernel: Kernel, arguments: tuple[Any, ...]) -> Iterator[None]:
        """While a kernel is compiled."""
        if not self._is_told and not shows_bars() and os.environ.get(QUIETLY) != "quiet":
            notify(f"{_description(kernel)} ...", important=True)  # it takes up to a minute
        self._is_told = True
        with self._bar(kernel), shortcuts(), shared_unboxing(), _in_our_ways():
            yield
        self._compiled += 1
        if self._helpers is not None:
            self._helpers.finish(text_of(kernel, arguments))

    @contextmanager
    def _bar(self, kernel: Kernel) -> Iterator[Any]:
        """The bar that is shown, or a new one; it goes away when the work of the command goes on."""
        if self._shown is not None:
            yield self._shown
            return
        is_quiet, total = os.environ.get(QUIETLY) == "quiet", self._expected or None
        done = self._compiled if self._helpers is None else self._helpers.done
        with SilentBar() if is_quiet else step_bar(_description(kernel), done, total) as bar:
            self._shown, began = bar, time.perf_counter()
            try:
                yield bar
            finally:
                self._shown = None
                self.seconds += time.perf_counter() - began

    def _start_helpers(self, first: str) -> None:
        """For the kernels that the command will need, `first` before all others."""
        planned, processes = helpers.planned_kernels(), helpers.helpers_wanted()
        if first not in planned or code_files.code_folder(code_files.PACKAGE, config.CACHE_DIR) is None:
            return
        missing = [first, *(name for name in planned if name != first and not _is_kept(name))]
        self._expected = len(missing)
        if processes and len(missing) > 1:
            cpu_target.typing_context.refresh()  # what Numba knows of NumPy is loaded once, for all processes
            cpu_target.target_context.refresh()
            self._helpers = helpers.Helpers(missing, compile_planned, processes)


COMPILATIONS = Compilations()


def _description(kernel: Kernel) -> str:
    return "compiling" + (", once after installation" if kernel._cache.cache_path is not None else "")


def _environments(library: Any) -> list[Any]:
    """What machine code finds the constants of its functions in."""
    names = [variable.name for variable in library._final_module.global_variables]
    found = [lookup_environment(name) for name in names if name.startswith("_ZN08NumbaEnv")]
    return [environment for environment in found if environment is not None]


def text_of(kernel: Kernel, arguments: tuple[Any, ...]) -> str:
    """A kernel in the lists of those that commands need."""
    return f"{kernel.__module__}.{kernel.__name__}\t{signature_text(arguments)}"


def compile_planned(text: str) -> None:
    """Compile a kernel that is on the list of a command, and keep it."""
    name, _, signature = text.partition("\t")
    kernel_named(name).compile(parse_signature(signature))


def _is_kept(text: str) -> bool:
    name, _, signature = text.partition("\t")
    return bool(kernel_named(name).is_kept(parse_signature(signature)))


@cache
def _element_type(kind: np.dtype[Any]) -> Any:
    """None for what kernels do not take."""
    return from_dtype(kind) if kind.isnative and kind.name in ELEMENTS else None


def argument_type(value: Any) -> Any:
    """The type of a kernel's argument, without `numpy.ma`, which Numba would load for it."""
    element = _element_type(value.dtype) if type(value) is np.ndarray else None
    if element is not None:
        return types.Array(element, value.ndim, map_layout(value), readonly=not value.flags.writeable)
    if isinstance(value, tuple):
        return tuple_type([argument_type(part) for part in value], type(value))
    return typeof(value)


class KernelType(types.Dispatcher):
    """For Numba: the type of one kernel."""


register_model(KernelType)(OpaqueModel)


@lower_constant(KernelType)  # type: ignore[no-untyped-call, untyped-decorator]
def _no_address(context: Any, builder: Any, kind: Any, kernel: Any) -> Any:
    """For Numba, where a kernel names another: not the address in this process, as code with it could not be kept."""
    return context.get_dummy_value()


class Kernel(CPUDispatcher):
    """What `njit` makes of a function: machine code for each signature that Python calls, and callees for kernels."""

    # Numba does not say that these are there.
    __name__: str
    _cache: Any
    _cache_hits: Any
    _cache_misses: Any
    _compiler: Any
    _types_active_call: Any
    overloads: Any
    targetctx: Any

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals or {}, targetoptions, KernelCompiler)
        self._callees: dict[tuple[Any, ...], Any] = {}
        self._type = KernelType(self)
        dict.__setitem__(self.typingctx._globals, weakref.ref(self), self._type)  # in place of the usual type

    @property
    def _numba_type_(self) -> KernelType:
        return self._type

    def compile(self, sig: Any) -> Any:
        """For Numba, when Python calls: the machine code for a signature, from the cache if it is there."""
        arguments, return_type = normalize_signature(sig)
        with global_compiler_lock:
            found = self.overloads.get(tuple(arguments))
            if found is None:
                found = self._cache.load_overload(sig, self.targetctx)
                COMPILATIONS.requested.append((self, tuple(arguments)))
                if found is None and COMPILATIONS.was_done_by_helper(self, tuple(arguments)):
                    found = self._cache.load_overload(sig, self.targetctx)
                (self._cache_misses if found is None else self._cache_hits)[sig] += 1
                if found is None:
                    init_extensions()
                    with self._compiling_counter, COMPILATIONS.announced(self, tuple(arguments)):
                        found = self._compiler.compile(arguments, return_type)
                        self._cache.save_overload(sig, found)
                self.add_overload(found)
            return found.entry_point

    def _compilation_chain_init_hook(self) -> None:
        """For Numba, before types are looked at: kernels that are loaded need no extensions of it."""

    def typeof_pyval(self, val: Any) -> Any:
        """For Numba: the type of an argument."""
        try:
            kind = argument_type(val)
        except (ValueError, NumbaValueError):  # Numba has none for it, and says so when it calls
            kind = types.pyobject
        self._types_active_call.add(kind)
        return kind

    def add_overload(self, cres: Any) -> None:
        """For Numba: machine code can be called from now on. That of callees finds their constants only from here."""
        for environment in _environments(cres.library) if cres.referenced_envs is None else cres.referenced_envs:
            cres.codegen.set_env(environment.env_name, environment)
        super().add_overload(cres)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """For Numba, when a kernel calls this one: its callee is compiled if need be."""
        signature, folded = self.fold_argument_types(args, kws)
        arguments = tuple(callee_type(argument) for argument in folded)
        found = self._callee(arguments)
        name = self.py_func.__name__
        template = make_concrete_template(name, key=name, signatures=[found.signature])  # type: ignore[no-untyped-call]
        return template, signature, arguments, {}

    def get_overload(self, sig: Any) -> Any:
        """For Numba: the key under which the callee for these types is registered."""
        return self._callees[_callee_kind(), *sig].entry_point

    def _callee(self, arguments: tuple[Any, ...]) -> Any:
        kind = _callee_kind()
        if (kind, *arguments) not in self._callees:
            with global_compiler_lock, self._compiling_counter:
                found = self._cache.load_callee(arguments, self.targetctx, kind) if self._is_cached else None
                if found is None:
                    found = self._compile_callee(arguments)
                    if self._is_cached:
                        self._cache.save_callee(arguments, found, kind)
                found = found._replace(entry_point=object())
                self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
                self._callees[kind, *arguments] = found
        return self._callees[kind, *arguments]

    def _compile_callee(self, arguments: tuple[Any, ...]) -> Any:
        function, options = self.py_func, self.targetoptions
        compiler: Any = FunctionCompiler(function, self.targetdescr, options, self.locals, CalleeCompiler)
        return compiler.compile(arguments, None)

    def is_kept(self, arguments: tuple[Any, ...]) -> bool:
        """Whether there is machine code for a signature, in memory or in the cache."""
        return arguments in self.overloads or (self._is_cached and self._cache.has_overload(arguments, self.targetctx))

    @property
    def _is_cached(self) -> bool:
        return isinstance(self._cache, KernelCache)


# ---------------------------------------------------------------- the cache


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
        library = _load_library(target_context.codegen(), *library)
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


# ---------------------------------------------------------------- decorators


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Numba's decorator, with compilers, libraries and a cache of our own."""

    def decorate(function: Any) -> Any:
        if config.DISABLE_JIT:
            return function
        kernel = Kernel(function, targetoptions={"nopython": True, "boundscheck": None, **options})
        if cache:
            kernel._cache = KernelCache(function)
        return kernel

    return decorate


if hasattr(os, "register_at_fork"):
    # A child of a process in which another thread compiles would wait for that thread, which it does not have.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

_OWNING: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": True}
_BORROWING = _OWNING | {"_nrt": False}
owning: Any = njit(**_OWNING)
borrowing: Any = njit(**_BORROWING)
inlined: Any = njit(**_BORROWING, forceinline=True)
