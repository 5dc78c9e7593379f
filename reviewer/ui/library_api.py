"""What the Library tab links to."""

from __future__ import annotations

import json

from fastapi import APIRouter, Response

from reviewer.store import NotFound, Store
from reviewer.ui.withheld import Kept


def library_router(store: Store) -> APIRouter:
    """``GET /api/exports/ID/manifest``: the manifest of an export, as it was recorded when it was made."""
    routes = APIRouter(prefix="/api")

    @routes.get("/exports/{export_id}/manifest")
    def manifest(kept: Kept, export_id: int) -> Response:
        made = next((one for one in store.exports() if one.id == export_id), None)
        if made is None:
            raise NotFound(f"export {export_id}: there is none")
        for one in made.manifest.get("items", ()):
            kept.require(one["item"])
        text = json.dumps(made.manifest, ensure_ascii=False, indent=1) + "\n"
        # An export's name is letters, digits, dots, dashes: nothing in it can end the header.
        headers = {"Content-Disposition": f'attachment; filename="{made.name}-manifest.json"'}
        return Response(text, media_type="application/json", headers=headers)

    return routes
