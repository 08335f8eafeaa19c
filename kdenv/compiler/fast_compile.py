"""Compiles kernels. A kernel that Python calls is optimised once, together with all the kernels that it calls.

Numba alone optimises every function that it compiles, with all calls inlined, and makes machine code of it. In a search, calls are fifteen
levels deep, so the rules of a game would be optimised fifteen times, and the first search of a game would take 20 s.
Here a kernel that another kernel calls becomes a `_Draft`: its types are inferred, and it is translated to LLVM's language. It is not
optimised, and no machine code is made. A kernel that Python calls becomes a `_LinkedKernel`: one module with its own code and the code
of all drafts that it needs, which is optimised once.

This depends on private parts of numba. README.md lists them, and selfcheck.py checks whether a new version of numba still has them. With
versions that kernel.py does not list, numba_compile.py compiles without them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar

from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.types import Dispatcher, Function, int8, int16, int32, int64
from numba.core.types.misc import unliteral
from numba.core.typing.templates import AbstractTemplate, infer_global

from kdenv.compiler.cache import KeptKernel
from kdenv.compiler.compile_group import KernelGroup
from kdenv.compiler.explain import explained


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """The common base of _Draft and _LinkedKernel: a module of LLVM code that is being built."""

    _linking_libraries: list[Any]

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify each function, as numba does, but skip those that are only declared in this module."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = _function_passes(self._codegen)
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


@cache
def _function_passes(codegen: Any) -> tuple[Any, Any]:
    """Return the passes that simplify a function. They are made once, because making them takes longer than running them."""
    passes: tuple[Any, Any] = codegen._function_pass_manager()
    return passes


class _Draft(_Library):
    """The code of one kernel and of the functions of numba that it needs. Each kernel that it calls has its own draft."""

    def finalize(self) -> None:
        """Link the functions of numba that are needed. Nothing is optimised, and no machine code is made."""
        for library in dict.fromkeys(self._linking_libraries):
            if not isinstance(library, _Draft):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.linkage = "linkonce_odr"  # a draft may be linked more than once, and may be dropped if nothing calls it
        self._finalized = True

    def needs(self, found: dict[_Draft, None]) -> None:
        """Add to `found` all drafts that this one needs, and then this one."""
        if self not in found:
            for library in self._linking_libraries:
                if isinstance(library, _Draft):
                    library.needs(found)
            found[self] = None

    def own_module(self) -> Any:
        """Return the code of this draft without the code of the drafts that it needs."""
        self._ensure_finalized()
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """Return the code of this draft and of all that it needs. Numba calls this when one of its functions calls a kernel."""
        module = self.own_module().clone()
        _link(module, [self])
        return module


class _LinkedKernel(_Library):
    """The code of a kernel that Python calls, and of all the kernels that it needs."""

    def finalize(self) -> None:
        """Link all drafts. Then numba optimises the module and makes machine code."""
        called = self._linking_libraries
        _link(self._final_module, [library for library in called if isinstance(library, _Draft)])
        self._linking_libraries = [library for library in called if not isinstance(library, _Draft)]
        super().finalize()

    @classmethod
    def of(cls, name: str, members: list[_LinkedKernel]) -> _LinkedKernel:
        """Make one library with the code of all these, of which none has been finalised."""
        linked = cls(members[0].codegen, name)
        linked.enable_object_caching()
        for member in members:
            linked._final_module.link_in(member._final_module)
            linked._linking_libraries += member._linking_libraries
            linked._reload_init |= member._reload_init
        linked.finalize()
        return linked

    def _optimize_final_module(self) -> None:
        """Make drafts private, then let numba optimise. LLVM may inline and change a private function, as nobody else calls it.

        The linkage `internal` would not do: the engine would use such a changed draft in place of one of the same name in other code.
        """
        for function in self._final_module.functions:
            if function.linkage.name == "linkonce_odr":
                function.linkage = "private"
        super()._optimize_final_module()


def _link(module: Any, drafts: list[_Draft]) -> None:
    """Link these drafts and all drafts that they need into a module."""
    found: dict[_Draft, None] = {}
    for draft in drafts:
        draft.needs(found)
    for draft in reversed(found):  # callers first, because code that nothing in the module calls would be left out
        module.link_in(draft.own_module(), preserve=True)


class _FrozenFlags(Flags):  # type: ignore[misc]
    """Options of a compilation that do not change, so that their hash is computed once. Numba needs it at every operation."""

    _known: ClassVar[dict[_FrozenFlags, _FrozenFlags]] = {}
    _hash: int
    _on_stack: _FrozenFlags | None = None

    @classmethod
    def of(cls, flags: Flags) -> _FrozenFlags:
        """Return frozen flags with the same values as these flags. There is one object for each combination of values."""
        frozen, on_stack = cls(flags), cls(flags)
        frozen._hash = on_stack._hash = super().__hash__(frozen)
        frozen._on_stack = on_stack
        return cls._known.setdefault(frozen, frozen)

    def __hash__(self) -> int:
        return self._hash

    def copy(self) -> Flags:
        """Return a copy. Numba keeps the first copy during a compilation, so it is frozen too; it changes a copy of that copy."""
        return self._on_stack or Flags(self)


class _Types(tuple[Any, ...]):
    """Types of arguments whose text is made once. Numba needs the text in every pass, and that of a state is long."""

    _text: str

    def __str__(self) -> str:
        if not hasattr(self, "_text"):
            self._text = super().__repr__()
        return self._text


class _CompilerOfDrafts(Compiler):  # type: ignore[misc]
    """A compiler of numba that makes drafts."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Flags, local: Any) -> None:
        flags.no_compile = True
        super().__init__(typing, target, library, _Types(args), returns, _FrozenFlags.of(flags), local)

    def define_pipelines(self) -> Any:
        """Return numba's passes; they write into a draft."""
        self.state.library = _Draft(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _CompilerOfLinked(Compiler):  # type: ignore[misc]
    """A compiler of numba that makes linked kernels: machine code that Python can call."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Flags, local: Any) -> None:
        super().__init__(typing, target, library, _Types(args), returns, _FrozenFlags.of(flags), local)

    def define_pipelines(self) -> Any:
        """Return numba's passes; they write into a linked kernel."""
        self.state.library = _LinkedKernel(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


class _CompilerOfMembers(_CompilerOfLinked):
    """A compiler of numba that makes linked kernels without machine code, from which _LinkedKernel.of makes one library."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Flags, local: Any) -> None:
        flags.no_compile = True
        super().__init__(typing, target, library, args, returns, flags, local)


def _widened(argument: Any) -> Any:
    """Return the type of an argument in a draft: int64 for integer constants and for the small signed integers of states."""
    argument = unliteral(argument)
    return int64 if argument in (int8, int16, int32) else argument


class _Drafts(CPUDispatcher):  # type: ignore[misc]
    """All drafts of one kernel: one for each combination of argument types."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, {}, {**options, "no_cpython_wrapper": True}, pipeline_class=_CompilerOfDrafts)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba calls this when it infers the types of a caller. Arguments are widened, so that calls share drafts.

        Only the draft for exactly these types is returned. Numba would compare all drafts, and warn if the state of one game begins
        with the same fields as that of another.
        """
        template, *rest = super().get_call_template([_widened(arg) for arg in args], {k: _widened(arg) for k, arg in kws.items()})
        template.cases = [self.overloads[tuple(rest[1])].signature]
        return template, *rest

    def compile(self, sig: Any) -> Any:
        """Make the draft for these types if there is none. Return its library in place of a pointer to machine code."""
        with global_compiler_lock, self._compiling_counter:
            args, returns = normalize_signature(sig)
            if args not in self.overloads:
                compiling = event.trigger_event("numba:compile", data={"dispatcher": self, "args": args, "return_type": returns})
                with compiling, explained(self.py_func):
                    draft = self._compiler.compile(args, returns)
                draft = draft._replace(entry_point=draft.library)
                self.targetctx.insert_user_function(draft.entry_point, draft.fndesc, [draft.library])
                self.overloads[args] = draft
            return self.overloads[args].entry_point


class CompiledKernel(KeptKernel):
    """A kernel. It is compiled to a linked kernel when Python calls it, and to a draft when another kernel calls it."""

    def __init__(self, py_func: Callable[..., Any], locals: Any = None, targetoptions: Any = None) -> None:
        # The wrapper called cfunc is for functions that C calls by a pointer. Kernels are not called in this way.
        options = {**(targetoptions or {}), "nopython": True, "no_cfunc_wrapper": True}
        super().__init__(py_func, locals or {}, options, pipeline_class=_CompilerOfLinked)
        self._drafts = _Drafts(py_func, options)
        self._members = type(self._compiler)(py_func, self.targetdescr, options, locals or {}, _CompilerOfMembers)
        self.group: KernelGroup | None = None  # the kernels that are compiled together with this one

    def compile(self, sig: Any) -> Any:
        """Make the linked kernel for these types, or read it from disk."""
        args = normalize_signature(sig)[0]
        with _no_garbage_collected():
            if self.group is not None and args not in self.overloads and self.group.has(self, args):
                self.group.compile(args[0])
            entry_point = super().compile(sig)
            linked = self.overloads[args]
            for environment in linked._find_referenced_environments() if linked.metadata is not None else ():
                linked.codegen.set_env(environment.env_name, environment)  # numba does this only for the kernel itself
            return entry_point

    def member(self, args: tuple[Any, ...]) -> Any:
        """Compile to a linked kernel without machine code, from which _LinkedKernel.of makes machine code."""
        with self._compiling_counter, explained(self.py_func):
            return self._members.compile(args, None)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba calls this when it infers the types of a caller: the caller gets a draft."""
        return self._drafts.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Numba calls this when it translates the call of a caller: the caller gets a draft."""
        return self._drafts.get_overload(sig)

    @property
    def nopython_signatures(self) -> Any:
        """The argument types of the drafts. Numba reads this after get_call_template."""
        return self._drafts.nopython_signatures

    @property
    def is_compiling(self) -> Any:
        """True while the kernel is being compiled. Numba uses this to find out whether a kernel calls itself."""
        return self._compiling_counter or self._drafts.is_compiling


def compile_together(title: str, kernels: tuple[Any, ...], types: Mapping[str, Any]) -> None:
    """Make one piece of machine code of these kernels when the first of them is called; see compile_group.py."""
    KernelGroup(title, kernels, types)


def compiled_kernel(function: Callable[..., Any], options: dict[str, Any]) -> CompiledKernel:
    """Make a kernel of a function, with these options of numba's jit."""
    return CompiledKernel(function, targetoptions=options)


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Switch garbage collection off in this block. Compiling makes millions of objects, and the collector would take 7 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def resolve_by_type(question: Callable[..., Any], kernel_for: Callable[[Any], Any]) -> None:
    """Let compiled code that calls question(first, ...) call the kernel that kernel_for returns for the type of first."""

    class Resolved(AbstractTemplate):  # type: ignore[misc]
        key = question
        drafts: ClassVar[dict[Any, Any]] = {}

        def generic(self, args: Any, kws: Any) -> Any:
            """Return the signature of the kernel that answers for arguments of these types."""
            kernel = Dispatcher(kernel_for(args[0]))
            signature: Any = kernel.get_call_type(self.context, args, kws)
            self.drafts[signature.args] = kernel.get_overload(signature)
            return signature

        def get_impl_key(self, sig: Any) -> Any:
            """Return the draft that the caller calls."""
            return self.drafts[sig.args]

    infer_global(question, Function(Resolved))
