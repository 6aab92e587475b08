"""How kernels are compiled: each with copies of its own of what it calls; where machine code is kept; who owns arrays.

Numba links what a kernel calls into its machine code, as weak symbols: if another library that is loaded already has a
function of that name, its code runs instead. The process that compiles has loaded all callees by themselves, later ones
have not; copies may add up in another order, and so round otherwise. Here these symbols are private to the kernel: its
results depend on its own machine code alone, compiled or cached, whatever was loaded before.

So the code that a kernel links, its *callee*, is another than the one that Python calls, which nobody links. A callee
stays in LLVM's bitcode: it gets neither machine code nor the functions that translate Python's objects, which took more
than half of the time to compile. All integers that it is called with are int64, so that there is one of it, not four.

Numba counts who uses an array, by atomic instructions, whenever one is taken out of a tuple or handed over: in inner
loops that takes longer than all they do. Without its run-time (`_nrt`) functions only borrow arrays from their caller:
they can neither make nor return any. Where nothing is said, the first function that calls would decide.

Numba's own cache reads code from folders that others can write to, mixes up code that two processes store at once,
knows nothing of inlined functions of other files or of NUMBA_BOUNDSCHECK, and fails where it cannot write. So kernels
take `njit` from here.
"""

from __future__ import annotations

from morphlm.compiling.compilations import COMPILATIONS
from morphlm.compiling.kernel import borrowing, inlined, njit, owning

__all__ = ["COMPILATIONS", "borrowing", "inlined", "njit", "owning"]
