"""The pictures of a trace: stored ones, or drawn again from the stored spectrum.

A picture is named by the SHA-256 of its pixels, and checked: a browser may cache it without limit, and a renderer
that draws other pixels gives an error, not a wrong picture.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

from agent import plot, tool
from agent.errors import Refusal
from agent.hints import measuring
from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.record import with_medium
from agent.spectrum.table import Window
from agent.trajectory import Step, Trajectory, TrajectoryError, Zoom
from agent.trajectory.messages import png_of
from agent.trajectory.steps import Answer, Think
from reviewer.store import Store

Key = TypeVar("Key")
Value = TypeVar("Value")


class PictureDiffers(Refusal):
    """The picture drawn again is not the one the model saw."""

    kind = "picture_differs"
    status = 409


class Cache(Generic[Key, Value]):
    """The most recently used values; thread-safe."""

    def __init__(self, size: int) -> None:
        self._values: LRUCache[Key, Value] = LRUCache(size)
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the cached value, or a new one. Two threads may make the same one at once; they are equal."""
        with self._lock:
            if key in self._values:
                return self._values[key]
        value = make()
        self.put(key, value)
        return value

    def known(self, key: Key) -> Value | None:
        """Return the cached value; None: there is none."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._values[key] = value


class Gallery:
    """Cached spectra and pictures, by their hashes."""

    def __init__(self, store: Store, spectra: int = 64, pictures: int = 512) -> None:
        self._store = store
        self._spectra: Cache[str, Spectrum] = Cache(spectra)
        self._pictures: Cache[str, bytes] = Cache(pictures)

    def spectrum(self, sha256: str) -> Spectrum:
        """Return a stored spectrum. :raises NotFound: no such spectrum is stored"""
        return self._spectra.get(sha256, lambda: self._store.spectra.get(sha256))

    def call_tool(
        self, sha256: str, redshift: float | None, arguments: Mapping[str, Any]
    ) -> tuple[tool.Observation, str | None]:
        """Call the tool on a stored spectrum; return its answer and the name of the picture, None if it refused."""
        observation = tool.call(replace(self.spectrum(sha256), redshift=redshift), dict(arguments))
        if observation.image is None:
            return observation, None
        name = plot.pixels_sha256(observation.image)
        self._pictures.put(name, png_of(observation.image))
        return observation, name

    def drawn(self, name: str, draw: Callable[[], bytes]) -> bytes:
        """Return the PNG bytes of a picture that no trace has, cached under this name."""
        return self._pictures.get(name, draw)

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
                raise PictureDiffers(tr("The picture was not stored and there is no spectrum to draw it from."))
            observation = tool.call(replace(self.spectrum(sha256), redshift=redshift), dict(arguments))
            if observation.image is None or plot.pixels_sha256(observation.image) != name:
                raise PictureDiffers(
                    tr(
                        "Drawn again from the stored spectrum, this picture is not the one the model saw (renderer "
                        "here: {renderer}).",
                        renderer=plot.RENDERER,
                    )
                )
            return png_of(observation.image)

        return self._pictures.get(name, make)


def revise(base: Trajectory, steps: list[dict[str, Any]], gallery: Gallery) -> Trajectory:
    """Return ``base`` with the steps that a page sent. The tool is called again here for zooms that differ from
    the base, so that no page can attach a picture or an answer to a window that did not give it.

    :raises TrajectoryError: naming the step and the field that cannot be read
    """
    sent = Trajectory.from_json({**base.to_json(), "steps": steps})
    known = {zoom.id: zoom for zoom in base.zooms}
    steps_now = tuple(
        _checked(step, known.get(step.id), base, gallery) if isinstance(step, Zoom) else _with_own_score(step, base)
        for step in sent.steps
    )
    return replace(sent, steps=steps_now)


def _with_own_score(step: Think | Answer, base: Trajectory) -> Think | Answer:
    """Return an answer with the score that its drafter gave to the same verdict, and with none otherwise."""
    if isinstance(step, Think):
        return step
    answer = base.answer
    if answer is not None and (answer.id, answer.verdict) == (step.id, step.verdict):
        return replace(step, score=answer.score)
    return replace(step, score=None)


def _checked(sent: Zoom, old: Zoom | None, base: Trajectory, gallery: Gallery) -> Zoom:
    # JSON from a browser has 6500 for 6500.0; keeping the old step keeps the version's hash.
    if old is not None and (old.tool, dict(old.arguments)) == (sent.tool, dict(sent.arguments)):
        return old
    if sent.is_foreign:
        raise TrajectoryError(
            tr("{step}: a call of another agent's tool can be kept or removed, not changed", step=sent.id)
        )
    if sent.shows_sky:
        if old is not None and old.shows_sky and old.drawn and sent.arguments.keys() <= {"label"}:
            # The answer does not depend on the label.
            return replace(old, arguments=dict(sent.arguments))
        raise TrajectoryError(
            tr(
                "{step}: a call of sky_context cannot be added here; keep it with at most another label, or remove it",
                step=sent.id,
            )
        )
    if base.spectrum_sha256 is None:
        raise TrajectoryError(tr("This item came without its spectrum, so its windows cannot be changed."))
    return zoom_step(gallery, base.spectrum_sha256, base, sent.id, sent.arguments, sent.measures)


def as_stated(spectrum: Spectrum, trajectory: Trajectory) -> Spectrum:
    """Return the spectrum without the remark that its medium is assumed, if a person stated it for this item."""
    if not trajectory.medium_set_by:
        return spectrum
    return with_medium(spectrum, trajectory.medium, trajectory.medium_set_by)


def windows_of(steps: Iterable[Step], spectrum: Spectrum) -> tuple[Window, ...]:
    """Return the windows of a trace in the spectrum's wavelengths, with the numbers that the page shows."""
    zooms = [(number, step) for number, step in enumerate(steps, start=1) if isinstance(step, Zoom)]
    requested = [(number, z.window if spectrum.frame == "rest" else z.window_observed) for number, z in zooms]
    return tuple(Window(number, *window) for number, window in requested if window is not None)


def zoom_step(
    gallery: Gallery,
    sha256: str,
    trajectory: Trajectory,
    step_id: str,
    arguments: Mapping[str, Any],
    measures: bool = False,
) -> Zoom:
    """Call the tool on the stored spectrum and return the zoom step.

    :param measures: call the ``measure`` tool

    :raises NotFound: no such spectrum is stored
    """
    picture: str | None = None
    if measures:
        spectrum = replace(gallery.spectrum(sha256), redshift=trajectory.redshift)
        observation = measuring.call(spectrum, arguments)
    else:
        observation, picture = gallery.call_tool(sha256, trajectory.redshift, arguments)
    return Zoom(
        id=step_id,
        arguments=dict(arguments),
        frame=observation.frame,
        z=observation.z,
        medium=gallery.spectrum(sha256).medium,
        observation=observation.text,
        ok=observation.ok,
        picture=picture,
        tool=tool.MEASURE if measures else tool.TOOL_NAME,
    )


def png_in_base64(gallery: Gallery, sha256: str, trajectory: Trajectory, step: Zoom) -> str | None:
    """Return the picture of a new zoom in base64, so that the page needs no second request."""
    if step.picture is None:
        return None
    png = gallery.picture(step.picture, sha256, trajectory.redshift, step.arguments)
    return b64encode(png).decode("ascii")
