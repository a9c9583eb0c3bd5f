"""Fitted models some of whose fields are drawn up when they are first read: what only a proof needs can wait for it."""

from collections.abc import Callable
from typing import Any, ClassVar, Self


class RestLater:
    """A frozen dataclass that may know how to come by its certificate instead of having it.

    Readers cannot tell the difference but by the time it takes. Threads that read at once may each draw up the same
    fields; a copy, a pickle and a saved file have them all.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]
    certificate: Any

    @classmethod
    def with_rest_later(cls, rest: Callable[[], dict[str, Any]], known: dict[str, Any]) -> Self:
        """Return a model of the ``known`` fields; ``rest`` gives the others when one of them is first read."""
        model = object.__new__(cls)
        model.__dict__.update(known, _rest=rest)
        return model

    def __getattr__(self, name: str) -> Any:
        """Draw up what was left for later."""
        rest = self.__dict__.get("_rest")
        if rest is not None and name in self.__dataclass_fields__:
            self.__dict__.update(rest())
            self.__dict__.pop("_rest", None)
        if name in self.__dict__:  # now, or since another thread has looked
            return self.__dict__[name]
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    def __getstate__(self) -> dict[str, Any]:
        """Travel whole, without what the rest is drawn from."""
        if "_rest" in self.__dict__:
            _ = self.certificate
        return self.__dict__
