"""Windows that a page asks for: the server's tool looks, and what it saw is bound to the step here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.steps import step_to_json
from agent.trajectory import Trajectory, TrajectoryError, Zoom
from reviewer.ui.pictures import Gallery


def revise(base: Trajectory, steps: list[dict[str, Any]], gallery: Gallery) -> Trajectory:
    """``base`` with the steps a page sent. Zooms that differ from the base's are looked at again here, so
    that no page can bind a picture or a tool's answer to a window that did not give it.

    :raises TrajectoryError: naming the step and the field that cannot be read
    """
    sent = Trajectory.from_json({**base.to_json(), "steps": steps})
    known = {zoom.id: zoom for zoom in base.zooms}
    steps_now = tuple(
        _checked(step, known.get(step.id), base, gallery) if isinstance(step, Zoom) else step
        for step in sent.steps
    )
    return replace(sent, steps=steps_now)


def _checked(sent: Zoom, old: Zoom | None, base: Trajectory, gallery: Gallery) -> Zoom:
    # JSON from a browser has 6500 for 6500.0; keeping the old step keeps the version's hash.
    if old is not None and dict(old.arguments) == dict(sent.arguments):
        return old
    if base.spectrum_sha256 is None:
        raise TrajectoryError("This item came without its spectrum, so its windows cannot be changed.")
    return looked(gallery, base.spectrum_sha256, base, sent.id, sent.arguments)


def looked(
    gallery: Gallery, sha256: str, trajectory: Trajectory, step_id: str, arguments: Mapping[str, Any]
) -> Zoom:
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
