"""How kernels become machine code: all that a kernel calls is optimised once, together with it.

numba by itself optimises every function it compiles, with all that it calls, and makes machine code of it. In a search, where
calls go fifteen deep, the rules of a game would so be optimised fifteen times over; the first search of a game took 20 s.
Here a kernel that is called by another one is a `_Draft`: typed and translated, but neither optimised nor run. A kernel that
Python calls is a `_Whole`: its own code and all the drafts it needs, in one module, optimised once.

This builds on the insides of numba; core/plain.py does the same without them, for versions of numba that kernel.py does not list.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.types import Dispatcher, Function
from numba.core.types.misc import unliteral
from numba.core.typing.templates import AbstractTemplate, infer_global

from kdenv.core.cache import KeptKernel


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code in the making."""

    _linking_libraries: list[Any]

    def _optimize_functions(self, ll_module: Any) -> None:
        """Tidy up what numba wrote: as numba does it, but without the functions that are only declared here."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class _Draft(_Library):
    """The code of one kernel, with what it needs of numba. The kernels it calls are drafts of their own, linked to it."""

    def finalize(self) -> None:
        """Bring in what is numba's; nothing is optimised, nor shown to the engine that makes machine code."""
        for library in dict.fromkeys(self._linking_libraries):
            if not isinstance(library, _Draft):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.linkage = "linkonce_odr"  # the same draft may come in by several ways, and may be dropped
        self._finalized = True

    def needs(self, found: dict[_Draft, None]) -> None:
        """Add all drafts needed by this one, and then itself, to those found."""
        if self not in found:
            for library in self._linking_libraries:
                if isinstance(library, _Draft):
                    library.needs(found)
            found[self] = None

    def own_module(self) -> Any:
        """The code without that of other drafts."""
        self._ensure_finalized()
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """The code with all it needs, for functions compiled by numba alone that call a kernel."""
        module = self.own_module().clone()
        _link(module, [self])
        return module


class _Whole(_Library):
    """The code of a kernel that Python calls, and of all the kernels it needs."""

    def finalize(self) -> None:
        """Bring in all drafts; then it goes numba's way."""
        called = self._linking_libraries
        _link(self._final_module, [library for library in called if isinstance(library, _Draft)])
        self._linking_libraries = [library for library in called if not isinstance(library, _Draft)]
        super().finalize()

    def _optimize_final_module(self) -> None:
        """As numba does it, but drafts are private: called from nowhere else, so they may be moved into their callers and changed.

        Not internal: the engine would take such a draft, changed as it is, for one of the same name in other code.
        """
        for function in self._final_module.functions:
            if function.linkage.name == "linkonce_odr":
                function.linkage = "private"
        super()._optimize_final_module()


def _link(module: Any, drafts: list[_Draft]) -> None:
    """Bring these drafts and all they need into a module."""
    found: dict[_Draft, None] = {}
    for draft in drafts:
        draft.needs(found)
    for draft in reversed(found):  # callers first: what nothing in the module calls yet would be left out
        module.link_in(draft.own_module(), preserve=True)


class _FrozenFlags(Flags):  # type: ignore[misc]
    """Flags that nobody changes any more: numba asks for their hash at every operation it types."""

    _known: ClassVar[dict[_FrozenFlags, _FrozenFlags]] = {}
    _hash: int

    @classmethod
    def of(cls, flags: Flags) -> _FrozenFlags:
        """The one object for flags of these values."""
        frozen = cls(flags)
        frozen._hash = super().__hash__(frozen)
        return cls._known.setdefault(frozen, frozen)

    def __hash__(self) -> int:
        return self._hash

    def copy(self) -> _FrozenFlags:
        """Itself."""
        return self


class _CompilerOfDrafts(Compiler):  # type: ignore[misc]
    """Stops before machine code is made."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Flags, local: Any) -> None:
        flags.no_compile = True
        super().__init__(typing, target, library, args, returns, _FrozenFlags.of(flags), local)

    def define_pipelines(self) -> Any:
        """As numba's."""
        self.state.library = _Draft(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _CompilerOfWholes(Compiler):  # type: ignore[misc]
    """Compiles what Python calls."""

    def __init__(self, typing: Any, target: Any, library: Any, args: Any, returns: Any, flags: Flags, local: Any) -> None:
        super().__init__(typing, target, library, args, returns, _FrozenFlags.of(flags), local)

    def define_pipelines(self) -> Any:
        """As numba's."""
        self.state.library = _Whole(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


class _Drafts(CPUDispatcher):  # type: ignore[misc]
    """The drafts of a kernel, by the types of its arguments."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function, {}, {**options, "no_cpython_wrapper": True}, pipeline_class=_CompilerOfDrafts)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What the typing of a caller asks for. A constant is as good as any other integer: there is no draft for each."""
        return super().get_call_template([unliteral(arg) for arg in args], {k: unliteral(arg) for k, arg in kws.items()})

    def compile(self, sig: Any) -> Any:
        """The draft for these types, made if there is none; numba knows it by its library."""
        with global_compiler_lock, self._compiling_counter:
            args, returns = normalize_signature(sig)
            if args not in self.overloads:
                with event.trigger_event("numba:compile", data={"dispatcher": self, "args": args, "return_type": returns}):
                    draft = self._compiler.compile(args, returns)
                draft = draft._replace(entry_point=draft.library)
                self.targetctx.insert_user_function(draft.entry_point, draft.fndesc, [draft.library])
                self.overloads[args] = draft
            return self.overloads[args].entry_point


class CompiledKernel(KeptKernel):
    """A kernel: when Python calls it, compiled as a whole; when kernels call it, a draft."""

    def __init__(self, py_func: Callable[..., Any], locals: Any = None, targetoptions: Any = None) -> None:
        # No kernel is called by pointer from C, which is what the wrapper called cfunc would be for.
        options = {**(targetoptions or {}), "nopython": True, "no_cfunc_wrapper": True}
        super().__init__(py_func, locals or {}, options, pipeline_class=_CompilerOfWholes)
        self._drafts = _Drafts(py_func, options)

    def compile(self, sig: Any) -> Any:
        """Compile for Python."""
        with _no_garbage_collected():
            entry_point = super().compile(sig)
            whole = self.overloads[normalize_signature(sig)[0]]
            for environment in whole._find_referenced_environments() if whole.metadata is not None else ():
                whole.codegen.set_env(environment.env_name, environment)  # numba has done this for the kernel itself alone
            return entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Asked while a caller is typed."""
        return self._drafts.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """Asked while a caller is translated."""
        return self._drafts.get_overload(sig)

    @property
    def nopython_signatures(self) -> Any:
        """What kernels may call."""
        return self._drafts.nopython_signatures

    @property
    def is_compiling(self) -> Any:
        """Asked when a kernel may have called itself."""
        return self._compiling_counter or self._drafts.is_compiling


def compiled_kernel(function: Callable[..., Any], options: dict[str, Any]) -> CompiledKernel:
    """A kernel."""
    return CompiledKernel(function, targetoptions=options)


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """While compiling: millions of objects are made and stay, and looking through them for garbage takes 7 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def resolve_by_type(question: Callable[..., Any], kernel_for: Callable[[Any], Any]) -> None:
    """Let compiled code that calls question(first, ...) call kernel_for(the type of first) in its place."""

    class Resolved(AbstractTemplate):  # type: ignore[misc]
        key = question
        drafts: ClassVar[dict[Any, Any]] = {}

        def generic(self, args: Any, kws: Any) -> Any:
            """The signature of the kernel that answers."""
            kernel = Dispatcher(kernel_for(args[0]))
            signature: Any = kernel.get_call_type(self.context, args, kws)
            self.drafts[signature.args] = kernel.get_overload(signature)
            return signature

        def get_impl_key(self, sig: Any) -> Any:
            """What is called in the end."""
            return self.drafts[sig.args]

    infer_global(question, Function(Resolved))
