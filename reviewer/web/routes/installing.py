"""What a browser needs to install the page as an app: the manifest and the icons. They are open without a session:
browsers fetch the manifest without cookies. They come before Gradio's routes of the same names."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from PIL import Image, ImageDraw

from agent.language import TAGS, current, tr
from reviewer.web.proxies import base_of

SIZES = (192, 512)
"""Pixels of the icons that Chromium requires."""
_FAVICON = 64
_FINER = 4  # drawn larger by this factor, then reduced: smooth edges
_BLUE, _WHITE = "#1f56d8", "#ffffff"
_KEPT = {"Cache-Control": "public, max-age=86400"}

router = APIRouter()


@router.api_route("/manifest.json", methods=["GET", "HEAD"])
def manifest(request: Request) -> Response:
    icons = [
        {"src": f"pwa_icon/{size}", "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
        for purpose in ("any", "maskable")
        for size in SIZES
    ]
    content = {
        "id": f"{base_of(request)}/",
        "name": "Spec-o3",
        "short_name": "Spec-o3",
        "description": tr("Review of the reasoning of a spectral-vetting agent."),
        "lang": TAGS[current()],
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": "#f6f8fa",
        "theme_color": _BLUE,
        "icons": icons,
    }
    headers = {**_KEPT, "Vary": "Accept-Language, Cookie"}
    return JSONResponse(content, media_type="application/manifest+json", headers=headers)


@router.get("/pwa_icon/{size}")
def icon(size: int) -> Response:
    if size not in SIZES:
        return Response(status_code=404)
    return Response(_icon(size), media_type="image/png", headers=_KEPT)


@router.api_route("/favicon.ico", methods=["GET", "HEAD"])
def favicon() -> Response:
    return Response(_icon(_FAVICON), media_type="image/png", headers=_KEPT)


@cache
def _icon(size: int) -> bytes:
    """Draw the icon as PNG: a spectrum with an emission and an absorption line. The square is filled to its edges,
    and what is drawn lies in its inner 80 %, so that a system may cut it to any shape.

    :param size: width and height, in pixels
    """
    large = size * _FINER
    picture = Image.new("RGB", (large, large), _BLUE)
    x = np.linspace(0.16, 0.84, 300)
    flux = 0.58 - 0.12 * (x - 0.5) - 0.34 * _line(x, 0.40, 0.022) + 0.20 * _line(x, 0.64, 0.030)
    points = [(float(a) * large, float(b) * large) for a, b in zip(x, flux, strict=True)]
    width = round(0.045 * large)
    pen = ImageDraw.Draw(picture)
    pen.line(points, fill=_WHITE, width=width)
    for a, b in points:  # round ends, and no gaps where the line bends
        pen.ellipse((a - width / 2, b - width / 2, a + width / 2, b + width / 2), fill=_WHITE)
    out = io.BytesIO()
    picture.resize((size, size), Image.Resampling.LANCZOS).save(out, "PNG", optimize=True)
    return out.getvalue()


def _line(x: np.ndarray, centre: float, sigma: float) -> np.ndarray:
    return np.exp(-0.5 * ((x - centre) / sigma) ** 2)
