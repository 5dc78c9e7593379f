"""Signing in and out: ``/sign-in`` and ``/sign-out``, pages that need no script and no network."""

from __future__ import annotations

import secrets
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse

from agent.language import NAMES, TAGS, current, offered, tr
from reviewer.rules.people import PersonError
from reviewer.store import NotAllowed, SignInRefused, Store
from reviewer.web import auth
from reviewer.web.bodies import LARGEST_FORM, declared_length
from reviewer.web.context import Context, ContextDep, plain
from reviewer.web.language import choose
from reviewer.web.proxies import Login, base_of, login_of

_PAGE = Template((Path(__file__).parents[1] / "templates" / "sign_in.html").read_text(encoding="utf-8"))

router = APIRouter()


@router.get("/sign-in")
def page(request: Request, context: ContextDep, language: str = "") -> Response:
    """The page. With ``?language=zh`` this language is chosen; ``?next=/docs/`` is opened afterwards."""
    if language in offered():
        again = base_of(request) + auth.sign_in_address(_next(request))
        chosen: Response = RedirectResponse(again, status_code=303)
        choose(chosen, language, f"{base_of(request)}/")
        return chosen
    login = login_of(request)
    if login is not None:
        return _login_page(context.store, login)
    return _page(context.store, _alone(request, context), after=_next(request))


@router.post("/sign-in")
async def enter(request: Request, context: ContextDep) -> Response:
    if not auth.same_site(request.headers, request.method):
        return _other_site()
    # A form of unknown length (chunked) is refused too: nothing is read before its size is known.
    length = declared_length(request.headers)
    if length is None:
        return PlainTextResponse(tr("found a form without a length, expected a Content-Length"), status_code=411)
    if length > LARGEST_FORM:
        return PlainTextResponse(
            tr("found a form of {length} bytes, expected at most {most}", length=length, most=LARGEST_FORM),
            status_code=413,
        )
    form = await request.form(max_files=0, max_fields=4)
    initials, password = str(form.get("initials", "")), str(form.get("password", ""))
    # Checking a password takes a tenth of a second and 32 MiB by design: not on the event loop, and only a few at
    # the same time.
    return await to_thread.run_sync(_enter, request, context, initials, password, limiter=context.password_checks)


@router.post("/sign-out")
def leave(request: Request, context: ContextDep) -> Response:
    if not auth.same_site(request.headers, request.method):
        return _other_site()
    context.store.accounts.sign_out(request.cookies.get(auth.COOKIE) or "")
    response = RedirectResponse(f"{base_of(request)}/sign-in", status_code=303)
    auth.clear_cookie(response, request)
    return response


def _alone(request: Request, context: Context) -> bool:
    """Whether initials may be enough: only this machine can reach the app, and did so under its own name."""
    return context.local and auth.reached_as_this_machine(request.headers)


def _next(request: Request) -> str:
    """Return the page of ours that is opened after signing in."""
    path = request.query_params.get("next", "")
    # Two slashes, or a backslash, begin the address of another host.
    ours = path.startswith("/") and not path.startswith(("//", "/sign-")) and "\\" not in path and path.isprintable()
    return path if ours else "/"


def _enter(request: Request, context: Context, initials: str, password: str) -> Response:
    store, alone = context.store, _alone(request, context)
    by_script = "application/json" in request.headers.get("accept", "")
    login = login_of(request)
    if login is not None and login.only:
        return _login_page(store, login, status=403)
    after = _next(request)
    response: Response = JSONResponse({}) if by_script else RedirectResponse(base_of(request) + after, status_code=303)

    def refused(status: int, sentence: str) -> Response:
        if by_script:
            return plain(status, "sign_in", sentence)
        return _page(store, alone, initials, sentence, status, after)

    try:
        if auth.needs_passwords(store.accounts.people()):
            origin = request.client.host if request.client else ""
            auth.set_session_cookie(response, request, store.accounts.sign_in(initials, password, origin))
            # The session that this browser had before ends here.
            store.accounts.sign_out(request.cookies.get(auth.COOKIE) or "")
        elif alone:
            auth.set_alone_cookie(response, request, auth.start_alone(store, initials))
        else:
            return refused(403, "")
    except SignInRefused as refusal:
        return refused(401, str(refusal))
    except (PersonError, NotAllowed) as refusal:
        return refused(422, str(refusal))
    return response


def _login_page(store: Store, login: Login, status: int = 200) -> HTMLResponse:
    """Return the page where a proxy signs people in: who they are here, or what to do if they are nobody."""
    person = None if login.name is None else store.logins.person(login.name)
    if person is not None and person.active:
        lead = tr(
            "You are signed in as {name} ({initials}) by your organisation.", name=person.name, initials=person.initials
        )
        link = f'<p><a href="./">{escape(tr("Open the review page"))}</a></p>'
        foot = tr(
            "To sign out, sign out of your organisation's page. Signing out here alone does not end that session."
        )
        return _written(tr("Signed in"), lead, link, "", foot, status)
    if person is not None:
        problem = tr("{initials} is no longer active here. Ask a coordinator.", initials=person.initials)
    elif login.name is not None:
        problem = tr(
            "Your sign-in name {login} is not known here. Give it to a coordinator: they enter it in the People tab, "
            "then this page opens.",
            login=login.name,
        )
    elif login.only:
        problem = tr(
            "Open this page under its usual address, where your organisation signs you in. If you did, its proxy did "
            "not say who you are: ask the person who runs it."
        )
    else:
        problem = ""
    if not login.only:
        return _page(store, False, refusal=problem, status=status)
    lead = tr("Everybody signs in through their organisation here; passwords are not accepted.")
    return _written(tr("Not signed in"), lead, "", problem, "", status)


def _page(
    store: Store, alone: bool, initials: str = "", refusal: str = "", status: int = 200, after: str = "/"
) -> HTMLResponse:
    """Return the page in one of three forms: with a password, with initials only, or closed to other machines.

    :param after: the page that is opened when the person has signed in
    """
    foot = ""
    if auth.needs_passwords(store.accounts.people()):
        heading, lead = tr("Sign in"), tr("Your initials are recorded with every edit and vote.")
        form = _form(_initials(initials, focus=not initials) + _password(focus=bool(initials)), tr("Sign in"), after)
        foot = tr("Forgotten your password? A coordinator can set a new one in the People tab.")
    elif alone:
        heading = tr("Who is reviewing?")
        lead = tr("On your own machine your initials are enough. They are recorded with every edit, vote and export.")
        form = _form(_initials(initials, focus=True), tr("Start reviewing"), after)
        foot = tr("Working as a team? Set passwords in the People tab; from then on everyone signs in.")
    else:
        heading, form = tr("Not open yet"), ""
        lead = tr(
            "Nobody has a password yet, so nobody can sign in from another machine. The person who runs this app can "
            "open it on its own machine (127.0.0.1) and set passwords in the People tab."
        )
    return _written(heading, lead, form, refusal, foot, status, after)


def _written(
    heading: str, lead: str, form: str, refusal: str, foot: str, status: int, after: str = "/"
) -> HTMLResponse:
    """Return the page with these texts; ``form`` is HTML, the others are not."""
    nonce = secrets.token_urlsafe(16)
    html = _PAGE.substitute(
        nonce=nonce,
        lang=TAGS[current()],
        title=tr("{page} · Spec-o3 review", page=escape(heading)),
        brand=escape(tr("Spec-o3 review")),
        heading=escape(heading),
        lead=escape(lead, quote=False),
        languages=_languages(after),
        form=form,
        refusal=f'<p role="alert">{escape(refusal)}</p>' if refusal else "",
        foot=f'<p class="foot">{escape(foot, quote=False)}</p>' if foot else "",
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


def _initials(initials: str, focus: bool) -> str:
    return f"""<label>{escape(tr("Initials"))} <small>{escape(tr("two to four letters"))}</small>
<input name="initials" value="{escape(initials)}" required minlength="2" maxlength="4" autocomplete="username"
  autocapitalize="characters" spellcheck="false"{" autofocus" if focus else ""}></label>"""


def _password(focus: bool) -> str:
    return f"""<label>{escape(tr("Password"))}
<input name="password" type="password" required autocomplete="current-password"
  {"autofocus" if focus else ""}></label>"""


def _languages(after: str) -> str:
    """Links that choose a language; the page needs no script."""
    more = "" if after == "/" else "&" + urlencode({"next": after})

    def link(code: str, name: str) -> str:
        if code == current():
            return f'<span lang="{TAGS[code]}" aria-current="true">{name}</span>'
        address = escape(f"sign-in?language={code}{more}")
        return f'<a href="{address}" lang="{TAGS[code]}" hreflang="{TAGS[code]}">{name}</a>'

    return " · ".join(link(code, name) for code, name in NAMES.items())


def _form(fields: str, verb: str, after: str) -> str:
    action = escape(auth.sign_in_address(after).removeprefix("/"))
    return f'<form method="post" action="{action}">{fields}<button>{escape(verb)}</button></form>'


def _other_site() -> PlainTextResponse:
    return PlainTextResponse(tr("This request came from another web site and was refused."), status_code=403)
