"""The pictures of a trace, drawn again from the stored spectrum and checked against what the model saw.

A picture is named by the SHA-256 of its pixels, so whatever is served under a name is that picture or
nothing: a browser may keep it for ever, and a renderer that draws other pixels shows as an error, not as a
wrong picture.
"""

from __future__ import annotations

from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Generic, TypeVar

from agent import plot, tool
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory, TrajectoryError, Zoom
from agent.trajectory.messages import png_of
from agent.trajectory.steps import step_to_json
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
        return self._spectra.get(sha256, lambda: self._store.spectra.get(sha256))

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

    def picture(self, name: str, sha256: str | None, redshift: float | None, arguments: Mapping[str, Any]) -> bytes:
        """PNG bytes of the picture with this name.

        :raises PictureDiffers: the spectrum drawn again gives other pixels
        :raises NotFound: the spectrum is not stored
        """

        def make() -> bytes:
            stored = self._store.spectra.picture(name)
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


def revise(base: Trajectory, steps: list[dict[str, Any]], gallery: Gallery) -> Trajectory:
    """``base`` with the steps a page sent. Zooms that differ from the base's are looked at again here, so
    that no page can bind a picture or a tool's answer to a window that did not give it.

    :raises TrajectoryError: naming the step and the field that cannot be read
    """
    sent = Trajectory.from_json({**base.to_json(), "steps": steps})
    known = {zoom.id: zoom for zoom in base.zooms}
    steps_now = tuple(
        _checked(step, known.get(step.id), base, gallery) if isinstance(step, Zoom) else step for step in sent.steps
    )
    return replace(sent, steps=steps_now)


def _checked(sent: Zoom, old: Zoom | None, base: Trajectory, gallery: Gallery) -> Zoom:
    # JSON from a browser has 6500 for 6500.0; keeping the old step keeps the version's hash.
    if old is not None and dict(old.arguments) == dict(sent.arguments):
        return old
    if base.spectrum_sha256 is None:
        raise TrajectoryError("This item came without its spectrum, so its windows cannot be changed.")
    return looked(gallery, base.spectrum_sha256, base, sent.id, sent.arguments)


def looked(gallery: Gallery, sha256: str, trajectory: Trajectory, step_id: str, arguments: Mapping[str, Any]) -> Zoom:
    """The step that a call of the tool with these arguments gives, on the stored spectrum.

    :raises NotFound: no such spectrum is stored
    """
    observation, picture = gallery.look(sha256, trajectory.redshift, arguments)
    return Zoom(
        id=step_id,
        arguments=dict(arguments),
        frame=observation.frame,
        z=observation.z,
        medium=gallery.spectrum(sha256).medium,
        observation=observation.text,
        ok=observation.ok,
        picture=picture,
    )


def png_in_base64(gallery: Gallery, sha256: str, trajectory: Trajectory, step: Zoom) -> str | None:
    """The picture of a look just made, in base64: whoever asked for it waits for nothing else."""
    if step.picture is None:
        return None
    png = gallery.picture(step.picture, sha256, trajectory.redshift, step.arguments)
    return b64encode(png).decode("ascii")


def seen_json(step: Zoom) -> dict[str, Any]:
    """What a look gives to the step that asked for it, which has its own id."""
    return {name: value for name, value in step_to_json(step).items() if name not in ("id", "kind")}
