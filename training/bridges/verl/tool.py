"""``spectral_visualization_tool`` as a tool of verl's agent loop, over ``agent.tool.call``.

It has the methods of ``verl.tools.base_tool.BaseTool`` (0.5.0.dev of the published training, and 0.9.1) without
inheriting from it: verl's loop calls these methods and never checks the class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from PIL import Image

from agent import tool
from agent.spectrum import Spectrum
from agent.spectrum.readers.parquet import bench_spectrum


@dataclass(frozen=True)
class ToolResponse:
    """The fields of ``verl.tools.schemas.ToolResponse``, from which verl makes its own."""

    text: str | None = None
    image: list[Image.Image] | None = None
    video: list[Any] | None = None


class ToolSchema:
    """The description of the tool, complete: verl's own class of this kind drops ``items`` from it."""

    function = SimpleNamespace(name=tool.TOOL_NAME)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the description that ends up in the prompt."""
        return deepcopy(tool.TOOL_SCHEMA)


class SpectralVisualizationTool:
    """One instance per worker; the spectra of the calls in progress are kept by instance id.

    :param config: the ``config`` of ``tool.yaml``
    :param tool_schema: a description in its place, as verl reads it from a YAML file; None: the complete one
    """

    def __init__(self, config: Mapping[str, Any], tool_schema: Any = None) -> None:
        self.config = config
        self.tool_schema = tool_schema or self.get_openai_tool_schema()
        self.name = self.tool_schema.function.name
        self._spectra: dict[str, Spectrum] = {}

    def get_openai_tool_schema(self) -> Any:
        return ToolSchema()

    async def create(
        self, instance_id: str | None = None, create_kwargs: Mapping[str, Any] | None = None, **more: Any
    ) -> tuple[str, ToolResponse]:
        """Keep the spectrum of a call.

        :param create_kwargs: of the row's ``extra_info.tools_kwargs``: ``wavelength`` (N,) in Å, ``flux`` (N,),
            and ``redshift`` or None
        :raises SpectrumError: they are no spectrum
        """
        instance_id = instance_id or str(uuid4())
        given = {"tools_kwargs": {tool.TOOL_NAME: {"create_kwargs": {**more, **(create_kwargs or {})}}}}
        self._spectra[instance_id] = bench_spectrum("tools_kwargs", 0, {"extra_info": given})
        return instance_id, ToolResponse()

    async def execute(self, instance_id: str, parameters: Any, **_: Any) -> tuple[ToolResponse, float, dict[str, Any]]:
        """Run the call; its mistakes are answered in the text, as in live vetting. No reward for using the tool.

        :param parameters: the parsed arguments of the call, of any type
        :returns: text and picture (RGB), the reward 0, and ``success``
        """
        # In a thread, so that the other trajectories of the worker continue.
        seen = await asyncio.to_thread(tool.call, self._spectra[instance_id], parameters)
        picture = None if seen.image is None else [seen.image.convert("RGB")]
        return ToolResponse(seen.text, picture), 0.0, {"success": seen.ok}

    async def calc_reward(self, instance_id: str, **_: Any) -> float:
        return 0.0

    async def release(self, instance_id: str, **_: Any) -> None:
        self._spectra.pop(instance_id, None)
