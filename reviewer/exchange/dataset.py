"""An export as a data set of Hugging Face and of Croissant, as it lies in its folder.

``metadata.parquet`` has a row per trace. ``datasets.load_dataset(FOLDER)`` reads it with the pictures as a column, by
the block at the beginning of ``README.md``; its types do not depend on the rows, as those of JSON would.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

METADATA = "metadata.parquet"
CROISSANT = "croissant.json"
PICTURES = "images/*.png"
UNKNOWN = "unknown"
"""The licence until the owner states one, in Hugging Face's list."""
_TITLE = "Approved inspection traces"
_DESCRIPTION = (
    "Inspections of spectra by an agent, with their pictures, approved by astronomers: the conversation in the layout "
    "of ShareGPT, in which <image> stands for the next picture."
)
_GROUP = 250_000  # characters of the conversations of a group of rows, which are in memory at once
_FILES = "images_file_names"
"""The name by which ``datasets`` makes a column ``images`` of paths."""

_SCHEMA = pa.schema(
    [
        pa.field("item", pa.int64(), metadata={"text": "number of the item in the campaign"}),
        pa.field("task", pa.string(), metadata={"text": "key of the question"}),
        pa.field("source_name", pa.string(), metadata={"text": "name of the spectrum"}),
        pa.field("spectrum_sha256", pa.string(), metadata={"text": "hash of the spectrum's arrays"}),
        pa.field("redshift", pa.float64(), metadata={"text": "redshift that the tool was given; null: none"}),
        pa.field("medium", pa.string(), metadata={"text": "medium of all wavelengths: vacuum or air"}),
        pa.field("medium_assumed", pa.bool_(), metadata={"text": "the file did not state the medium"}),
        pa.field("verdict", pa.string(), metadata={"text": "approved answer, YES or NO"}),
        pa.field("ground_truth", pa.string(), metadata={"text": "known label, else the approved answer"}),
        pa.field("label_source", pa.string(), metadata={"text": "where ground_truth comes from"}),
        pa.field("simulated", pa.bool_(), metadata={"text": "the spectrum is simulated"}),
        pa.field("drafter_kind", pa.string(), metadata={"text": "who drafted: baseline, model, person or unknown"}),
        pa.field("drafter_name", pa.string(), metadata={"text": "name of the drafter"}),
        pa.field(
            "conversations",
            pa.list_(pa.struct([("from", pa.string()), ("value", pa.string())])),
            metadata={"text": "turns of system, human (also the tool's answers) and gpt"},
        ),
        pa.field(_FILES, pa.list_(pa.string()), metadata={"text": "paths of the pictures, in their order"}),
    ]
)
_TYPES = {pa.int64(): "sc:Integer", pa.float64(): "sc:Float", pa.bool_(): "sc:Boolean"}


class DatasetRows:
    """Writes ``metadata.parquet`` row by row."""

    def __init__(self, path: Path) -> None:
        """:raises OSError: nothing can be written there"""
        self._writer = pq.ParquetWriter(path, _SCHEMA, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._characters = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, where: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def add(self, sharegpt: Mapping[str, Any], item: int, verdict: str | None) -> None:
        """Add a trace. :param sharegpt: its row in the published layout"""
        self._rows.append({**sharegpt, "item": item, "verdict": verdict, _FILES: sharegpt["images"]})
        self._characters += sum(len(turn["value"]) for turn in sharegpt["conversations"])
        if self._characters > _GROUP:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._rows, _SCHEMA))
        self._rows, self._characters = [], 0


def front_matter(licence: str, rows: int) -> str:
    """Return the block at the beginning of ``README.md`` by which Hugging Face reads the folder.

    :param licence: an identifier of Hugging Face's list, e.g. "cc-by-4.0"
    """
    sizes = (("n<1K", 1_000), ("1K<n<10K", 10_000), ("10K<n<100K", 100_000), ("100K<n<1M", 1_000_000))
    block = {
        "pretty_name": _TITLE,
        "license": licence,
        "task_categories": ["image-text-to-text"],
        "tags": ["astronomy", "spectroscopy", "agent-traces"],
        "size_categories": [next((name for name, most in sizes if rows < most), "1M<n<10M")],
        "configs": [
            {
                "config_name": "default",
                "drop_labels": True,
                "data_files": [{"split": "train", "path": [METADATA, PICTURES]}],
            }
        ],
    }
    return f"---\n{yaml.safe_dump(block, sort_keys=False, allow_unicode=True)}---\n\n"


def croissant(licence: str, metadata_sha256: str) -> str:
    """Return the description of the export in Croissant 1.0 (https://docs.mlcommons.org/croissant/docs/croissant-spec),
    in JSON-LD.

    :param metadata_sha256: of ``metadata.parquet``, in hex
    """
    form = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": "spec-o3-approved-traces",
        "description": _DESCRIPTION,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": licence,
        "version": "1.0.0",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": METADATA,
                "name": METADATA,
                "contentUrl": METADATA,
                "encodingFormat": "application/x-parquet",
                "sha256": metadata_sha256,
            },
            {
                "@type": "cr:FileSet",
                "@id": "pictures",
                "name": "pictures",
                "includes": PICTURES,
                "encodingFormat": "image/png",
            },
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "traces",
                "name": "traces",
                "key": {"@id": "traces/item"},
                "field": [_field(field) for field in _SCHEMA],
            }
        ],
    }
    return json.dumps(form, indent=1, ensure_ascii=False) + "\n"


def _field(field: pa.Field) -> dict[str, Any]:
    name = f"traces/{field.name}"
    form: dict[str, Any] = {"@type": "cr:Field", "@id": name, "name": name}
    form["description"] = field.metadata[b"text"].decode()
    source = {"fileObject": {"@id": METADATA}, "extract": {"column": field.name}}
    if not pa.types.is_list(field.type):
        return form | {"dataType": _TYPES.get(field.type, "sc:Text"), "source": source}
    if not pa.types.is_struct(field.type.value_type):
        return form | {"dataType": "sc:Text", "repeated": True, "source": source}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{part.name}",
            "name": f"{name}/{part.name}",
            "dataType": "sc:Text",
            "source": source | {"transform": {"jsonPath": part.name}},
        }
        for part in field.type.value_type
    ]
    return form | {"repeated": True, "subField": parts}


_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
