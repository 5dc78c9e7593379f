"""The licence of a model: that of its base, as known here or as stated by the user; otherwise unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

_QWEN = "https://huggingface.co/Qwen/Qwen2.5-VL-{0}-Instruct/blob/main/LICENSE"
_OTHER = {
    size: {"license": "other", "license_name": name, "license_link": _QWEN.format(size)}
    for size, name in (("3B", "qwen-research"), ("72B", "qwen"))
}
BASES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Qwen/Qwen2.5-VL-3B-Instruct": _OTHER["3B"],
        "Qwen/Qwen2.5-VL-7B-Instruct": {"license": "apache-2.0"},
        "Qwen/Qwen2.5-VL-32B-Instruct": {"license": "apache-2.0"},
        "Qwen/Qwen2.5-VL-72B-Instruct": _OTHER["72B"],
    }
)
"""Licences of base models by their names on the hub, as the hub's model cards have them (metadata of a card)."""

ON_THE_HUB = frozenset(
    (
        *("apache-2.0", "mit", "openrail", "bigscience-openrail-m", "bigscience-bloom-rail-1.0", "bsd", "bsd-2-clause"),
        *("bsd-3-clause", "bsd-3-clause-clear", "c-uda", "cc", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0"),
        *("cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0"),
        *("cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
        *("cdla-sharing-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "afl-3.0", "artistic-2.0", "bsl-1.0"),
        *("creativeml-openrail-m", "ecl-2.0", "epl-1.0", "epl-2.0", "etalab-2.0", "eupl-1.1", "eupl-1.2", "agpl-3.0"),
        *("gfdl", "gpl", "gpl-2.0", "gpl-3.0", "lgpl", "lgpl-2.1", "lgpl-3.0", "isc", "gemma", "llama2", "llama3"),
        *("llama3.1", "llama3.2", "llama3.3", "llama4", "lppl-1.3c", "ms-pl", "mpl-2.0", "odc-by", "odbl"),
        *("openrail++", "osl-3.0", "ofl-1.1", "ncsa", "postgresql", "unlicense", "wtfpl", "zlib", "unknown", "other"),
    )
)
"""Names of licences that the hub accepts in a card; another one is ``other`` with ``license_name``."""


def licence(stages: Sequence[Mapping[str, Any]], base: str, stated: str | None = None) -> dict[str, str]:
    """Return a card's metadata about the licence; ``license: unknown`` if nothing says it.

    :param stages: the lineage, in which the settings of a stage may state it; the last one that does counts
    :param base: the name of the base model
    :param stated: for this card; it has precedence
    """
    stated_before = [stage["from"]["license"] for stage in stages if stage.get("from", {}).get("license")]
    name = stated or (stated_before[-1] if stated_before else None)
    if name is None:
        return dict(BASES.get(base, {"license": "unknown"}))
    return {"license": name} if name in ON_THE_HUB else {"license": "other", "license_name": name}
