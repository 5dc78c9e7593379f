"""The documents under ``/docs/``, for people who are signed in (``access.PAGES``)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.status import HTTP_404_NOT_FOUND

from agent.language import ENGLISH, TAGS, current, tr
from reviewer.web.context import ContextDep, program_version
from reviewer.web.documents import ADDRESS, Document, Documents, above
from reviewer.web.headers import document_policy

_PAGE = Template((Path(__file__).parents[1] / "templates" / "documents.html").read_text(encoding="utf-8"))
_FEWEST_HEADINGS = 3  # a shorter page needs no list of its headings

router = APIRouter()


@router.get(ADDRESS)
def index(request: Request, context: ContextDep) -> Response:
    return _page(request, context.documents, "", _contents(context.documents))


@router.get(ADDRESS + "{name:path}")
def document(request: Request, context: ContextDep, name: str) -> Response:
    """One document, or a picture in one."""
    picture = context.documents.picture(name)
    if picture is not None:
        return FileResponse(picture.path, media_type=picture.media_type)
    if name not in context.documents:
        title = tr("No such document")
        about = tr("There is no document of this name. The list has all of them.")
        missing = f"<h1>{escape(title)}</h1><p>{escape(about)}</p>"
        return _page(request, context.documents, "", Document(title, missing, ()), HTTP_404_NOT_FOUND)
    return _page(request, context.documents, name, context.documents.document(name))


def _contents(documents: Documents) -> Document:
    if not documents.groups:
        where = f"<code>{escape(str(documents.folder))}</code>"
        none = tr(
            "No documents are installed: expected the folder {folder}. They are in the repository of the program, in "
            "the folder {docs}."
        )
        text = f"<p>{escape(none).format(folder=where, docs='<code>docs</code>')}</p>"
    else:
        text = "".join(f"<h2>{escape(tr(group))}</h2><ul>{_links(own)}</ul>" for group, own in documents.groups.items())
    title = tr("Documentation")
    return Document(title, f"<h1>{escape(title)}</h1>{text}", ())


def _links(titles: Mapping[str, str], chosen: str = "", to: str = "./") -> str:
    current = ' aria-current="page"'
    return "".join(
        f'<li><a href="{to}{quote(name)}"{current if name == chosen else ""}>{escape(title)}</a></li>'
        for name, title in titles.items()
    )


def _headings(shown: Document) -> str:
    second = [heading for heading in shown.headings if heading.level == 2]
    if len(second) < _FEWEST_HEADINGS:
        return ""
    entries = "".join(f'<li><a href="#{escape(part.id)}">{escape(part.text)}</a></li>' for part in second)
    return f"<p>{escape(tr('On this page'))}</p><ul>{entries}</ul>"


def _page(request: Request, documents: Documents, name: str, shown: Document, status: int = 200) -> HTMLResponse:
    # Relative to the address of this page, which may be that of no document.
    to = above(request.url.path.removeprefix(ADDRESS))
    listed = "".join(
        f"<p>{escape(tr(group))}</p><ul>{_links(own, name, to)}</ul>" for group, own in documents.groups.items()
    )
    headers = {"Content-Security-Policy": document_policy(request.scope), "Cache-Control": "no-cache"}
    language = documents.language_of(name) if name else TAGS[current()]
    return written(shown.title, listed, shown.html, _headings(shown), headers, status, language, root=f"../{to}")


def written(
    title: str,
    listed: str,
    text: str,
    headings: str,
    headers: Mapping[str, str],
    status: int = 200,
    language: str = TAGS[ENGLISH],
    *,
    root: str,
) -> HTMLResponse:
    """Return a page that only shows text; all parts but the title are HTML.

    :param language: of the text, as HTML names it; what is around it is in the language of the request
    :param root: the address of the app's page, relative to this page
    """
    page = _PAGE.substitute(
        root=root,
        language=TAGS[current()],
        title=escape(title),
        skip=escape(tr("Skip to the text")),
        home=escape(tr("Spec-o3 review")),
        documentation=escape(tr("Documentation")),
        documents=escape(tr("Documents")),
        on_this_page=escape(tr("On this page")),
        version=escape(tr(program_version())),
        list=listed,
        text=text,
        text_language=language,
        headings=headings,
    )
    return HTMLResponse(page, status_code=status, headers=dict(headers))
