"""A kernel around another one, alike in all that the fit asks about it."""

from abc import ABC

from gramian.kernels.kernel import Kernel


class Wrapped(Kernel, ABC):
    """A kernel made from ``kernel`` without changing what shifts, sparse rows and signs of eigenvalues do to it."""

    kernel: Kernel

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernel within."""
        return (self.kernel,)

    @property
    def shift_invariant(self) -> bool:
        """As the kernel within."""
        return self.kernel.shift_invariant

    @property
    def shift_invariant_centered(self) -> bool:
        """As the kernel within."""
        return self.kernel.shift_invariant_centered

    @property
    def takes_sparse(self) -> bool:
        """As the kernel within."""
        return self.kernel.takes_sparse

    @property
    def is_psd(self) -> bool:
        """As the kernel within."""
        return self.kernel.is_psd
