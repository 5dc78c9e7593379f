"""The pictures of a trace, drawn again from the stored spectrum and checked against what the model saw.

A picture is named by the SHA-256 of its pixels, so whatever is served under a name is that picture or
nothing: a browser may keep it for ever, and a renderer that draws other pixels shows as an error, not as a
wrong picture.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Generic, TypeVar

from agent import plot, tool
from agent.pictures import png_of
from agent.spectrum import Spectrum
from reviewer.store import Store

Key = TypeVar("Key")
Value = TypeVar("Value")


class PictureDiffers(Exception):
    """Drawn again, the picture is not the one the model saw."""


class Recent(Generic[Key, Value]):
    """The values asked for last, at most ``room`` of them; safe in many threads."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The kept value, or a new one. Two threads may make the same one at once; the values are equal."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        value = make()
        self.put(key, value)
        return value

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)


class Gallery:
    """Spectra and pictures by their hashes."""

    def __init__(self, store: Store, spectra: int = 64, pictures: int = 512) -> None:
        self._store = store
        self._spectra: Recent[str, Spectrum] = Recent(spectra)
        self._pictures: Recent[str, bytes] = Recent(pictures)

    def spectrum(self, sha256: str) -> Spectrum:
        """:raises NotFound: no such spectrum is stored"""
        return self._spectra.get(sha256, lambda: self._store.spectrum(sha256))

    def look(
        self, sha256: str, redshift: float | None, arguments: Mapping[str, Any]
    ) -> tuple[tool.Observation, str | None]:
        """What the tool answers on a stored spectrum, and the name of its picture (None: it refused)."""
        observation = tool.call(replace(self.spectrum(sha256), redshift=redshift), dict(arguments))
        if observation.image is None:
            return observation, None
        name = plot.pixels_sha256(observation.image)
        self._pictures.put(name, png_of(observation.image))
        return observation, name

    def picture(
        self, name: str, sha256: str | None, redshift: float | None, arguments: Mapping[str, Any]
    ) -> bytes:
        """PNG bytes of the picture with this name.

        :raises PictureDiffers: the spectrum drawn again gives other pixels
        :raises NotFound: the spectrum is not stored
        """

        def make() -> bytes:
            stored = self._store.picture(name)
            if stored is not None:
                return stored
            if sha256 is None:
                raise PictureDiffers("The picture was not stored and there is no spectrum to draw it from.")
            observation = tool.call(replace(self.spectrum(sha256), redshift=redshift), dict(arguments))
            if observation.image is None or plot.pixels_sha256(observation.image) != name:
                raise PictureDiffers(
                    "Drawn again from the stored spectrum, this picture is not the one the model saw "
                    f"(renderer here: {plot.RENDERER})."
                )
            return png_of(observation.image)

        return self._pictures.get(name, make)
