"""The way in and out: ``/sign-in`` and ``/sign-out``, pages that need no script and no network."""

from __future__ import annotations

import secrets
from html import escape
from pathlib import Path
from string import Template

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse

from reviewer.rules.people import PersonError
from reviewer.store import NotAllowed, SignInRefused, Store
from reviewer.web import auth
from reviewer.web.access import told_length

_PAGE = Template((Path(__file__).parent / "sign_in.html").read_text(encoding="utf-8"))

# Initials and a password; whoever sends more is not signing in.
LARGEST_FORM = 4096
AT_ONCE = 4
"""Passwords that are checked at the same time."""

_INITIALS = """<label>Initials <small>two to four letters</small>
<input name="initials" value="{initials}" required minlength="2" maxlength="4" autocomplete="username"
  autocapitalize="characters" spellcheck="false"{autofocus}></label>"""
_PASSWORD = """<label>Password
<input name="password" type="password" required autocomplete="current-password"{autofocus}></label>"""


def router(store: Store, local: bool) -> APIRouter:
    """The routes over an open store. ``local``: only this machine reaches them; initials may be enough."""
    routes = APIRouter()
    at_once = CapacityLimiter(AT_ONCE)

    @routes.get("/sign-in")
    def page(request: Request) -> Response:
        return _page(store, _alone(request))

    @routes.post("/sign-in")
    async def enter(request: Request) -> Response:
        if not auth.same_site(request.headers, request.method):
            return _other_site()
        # A form of unknown length (chunked) is refused as well: nothing is read before its size is known.
        length = told_length(request.headers)
        if length is None:
            return PlainTextResponse("A form with a length was wanted.", status_code=411)
        if length > LARGEST_FORM:
            return PlainTextResponse("The form is too large.", status_code=413)
        form = await request.form(max_files=0, max_fields=4)
        initials, password = str(form.get("initials", "")), str(form.get("password", ""))
        # Checking a password takes a tenth of a second and 32 MiB by design: not on the event loop, and not
        # as many at once as somebody cares to send.
        return await to_thread.run_sync(_enter, request, initials, password, limiter=at_once)

    @routes.post("/sign-out")
    def leave(request: Request) -> Response:
        if not auth.same_site(request.headers, request.method):
            return _other_site()
        store.sign_out(request.cookies.get(auth.COOKIE) or "")
        response = RedirectResponse("/sign-in", status_code=303)
        auth.clear_cookie(response)
        return response

    def _alone(request: Request) -> bool:
        return local and auth.reached_as_this_machine(request.headers)

    def _enter(request: Request, initials: str, password: str) -> Response:
        response = RedirectResponse("/", status_code=303)
        try:
            if auth.needs_passwords(store.people()):
                origin = request.client.host if request.client else ""
                auth.set_session_cookie(response, request, store.sign_in(initials, password, origin))
                # What this browser carried before is worth nothing from here on.
                store.sign_out(request.cookies.get(auth.COOKIE) or "")
            elif _alone(request):
                auth.set_alone_cookie(response, request, auth.start_alone(store, initials))
            else:
                return _page(store, alone=False, status=403)
        except SignInRefused as refusal:
            return _page(store, _alone(request), initials, str(refusal), status=401)
        except (PersonError, NotAllowed) as refusal:
            return _page(store, _alone(request), initials, str(refusal), status=422)
        return response

    return routes


def _page(store: Store, alone: bool, initials: str = "", refusal: str = "", status: int = 200) -> HTMLResponse:
    """The page in one of three forms: with a password, with initials only, or closed to other machines."""
    foot = ""
    if auth.needs_passwords(store.people()):
        heading, lead = "Sign in", "Your initials stand beside every edit and vote you make."
        fields = _INITIALS.format(initials=escape(initials), autofocus="" if initials else " autofocus")
        fields += _PASSWORD.format(autofocus=" autofocus" if initials else "")
        form = _form(fields, "Sign in")
        foot = "Forgotten your password? A coordinator can set a new one in the People tab."
    elif alone:
        heading = "Who is reviewing?"
        lead = "On your own machine your initials are enough. They stand beside every edit, vote and export."
        form = _form(_INITIALS.format(initials=escape(initials), autofocus=" autofocus"), "Start reviewing")
        foot = "Working as a team? Set passwords in the People tab; from then on everybody signs in."
    else:
        heading, form = "Not open yet", ""
        lead = (
            "Nobody here has a password, so nobody can sign in from another machine. Whoever runs this app "
            "opens it on its own machine (127.0.0.1) and sets passwords in the People tab."
        )
    nonce = secrets.token_urlsafe(16)
    html = _PAGE.substitute(
        nonce=nonce,
        heading=heading,
        lead=lead,
        form=form,
        refusal=f'<p role="alert">{escape(refusal)}</p>' if refusal else "",
        foot=f'<p class="foot">{foot}</p>' if foot else "",
    )
    policy = f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; form-action 'self'"
    return HTMLResponse(
        html,
        status_code=status,
        headers={
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"{policy}; base-uri 'none'; frame-ancestors 'none'",
        },
    )


def _form(fields: str, verb: str) -> str:
    return f'<form method="post" action="/sign-in">{fields}<button>{verb}</button></form>'


def _other_site() -> PlainTextResponse:
    return PlainTextResponse("This request came from another web site and was refused.", status_code=403)
