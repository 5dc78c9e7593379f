"""The languages: catalogues, the language of a request and of the command line, and texts that are no messages."""

from __future__ import annotations

import ast
import json
import re
import string
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agent import language
from agent.language import PSEUDO, deferred, of_environment, speaking, tr, trn
from app import main
from reviewer import server
from reviewer.store import Store
from reviewer.web.language import COOKIE, without_language
from tests.support import english, messages

NOT_SHOWN = {"debug", "info", "warning", "error", "exception", "compile", "fullmatch", "match", "search", "sub"}
"""Calls whose texts are for the log or for the program."""
NOT_SHOWN |= english.CALLS
SHOWN_ARGUMENTS = {"help", "description", "epilog", "label", "info", "placeholder", "title", "desc"}
"""Arguments by name that a person sees even if they are one word."""
SENTENCE = re.compile(r"[A-Za-z]{2,}[,.;:]? [a-z]{2,}")
MARKUP = re.compile(r"<[^>]*>|<[^>]*$|^[^<]*>|\{\w*\}|[a-z-]+=\"[^\"]*\"")

HERE = "http://127.0.0.1:7860"
ROOT = Path(__file__).resolve().parents[1]
PARTS: tuple[language.Part, ...] = ("program", "page")
OTHERS = [code for code in language.NAMES if code != language.ENGLISH]
MESSAGES = {"tr": 1, "deferred": 1, "trn": 2, "deferredn": 2}
"""Functions of ``agent.language``, with the number of texts that each is given."""
PRINTF = re.compile(r"%(?:\((\w+)\))?[sdr]")


@cache
def trees() -> dict[str, ast.Module]:
    """The modules of the product by path."""
    return {name: ast.parse((ROOT / name).read_text(encoding="utf-8")) for name in messages.files(".py")}


def placeholders(message: str) -> set[str]:
    """The values that a message shows: ``{name}`` and, in argparse's own words, ``%(name)s``."""
    try:
        braces = {name for _, name, _, _ in string.Formatter().parse(message) if name is not None}
    except ValueError:
        braces = set()
    return braces | {match[0] for match in PRINTF.finditer(message)}


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("part", PARTS)
def test_a_translation_has_the_values_of_its_message(code: str, part: language.Part) -> None:
    """A message without translation is shown in English; ``make messages`` counts it."""
    extracted = messages.extracted(part)
    assert len(extracted) > 50
    catalogue = messages.read(code, part)
    wrong: list[str] = []
    for message in extracted:
        key = message if isinstance(message, str) else message[0]
        entry = catalogue.get(key)
        if entry is None or messages.is_missing(entry):
            continue
        forms = (entry.string,) if isinstance(entry.string, str) else tuple(entry.string)
        # The form for one may leave the number out: the other one shows it.
        values = placeholders(message if isinstance(message, str) else message[1])
        wrong += [f"expected {sorted(values)}: {key!r} -> {form!r}" for form in forms if placeholders(form) != values]
    assert not wrong, "\n".join([f"correct agent/locale/{code}/{part}.po:", *wrong[:50]])


def test_both_parts_translate_a_message_alike_and_chinese_uses_its_own_punctuation() -> None:
    """A half-width comma or bracket beside a Chinese character, or an English sentence that was left."""
    for code in OTHERS:
        program, page = (language.catalogue(code, part) for part in PARTS)
        assert not {key: page[key] for key in program.keys() & page.keys() if program[key] != page[key]}
    program, page = (language.catalogue("zh", part) for part in PARTS)
    half_width = re.compile(r"[\u4e00-\u9fff][,;:?!(]|[,;?!)][\u4e00-\u9fff]")
    forms = [form for catalogue in (program, page) for forms in catalogue.values() for form in forms]
    assert [form for form in forms if half_width.search(form)] == []


def test_a_message_without_translation_is_counted_and_only_the_release_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("agent/new.py", "agent/old.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / "agent/new.py").write_text('tr("Sign in")\ntrn("{n} new comet", "{n} new comets", 2)\n')
    (tmp_path / "agent/old.js").write_text("t('Sign in')\n")
    locale = tmp_path / "agent/locale"
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    monkeypatch.setattr(messages, "LOCALE", locale)
    monkeypatch.setattr(
        messages, "files", lambda *endings: [n for n in ("agent/new.py", "agent/old.js") if n.endswith(endings)]
    )
    assert messages.main(["--check"]) == 1
    assert "make messages" in capsys.readouterr().out
    assert not locale.exists()
    assert messages.main([]) == 0
    for part in PARTS:
        path = locale / "zh" / f"{part}.po"
        path.write_text(path.read_text("utf-8").replace('"Sign in"\nmsgstr ""', '"Sign in"\nmsgstr "登录"'), "utf-8")
    assert messages.main(["--check"]) == 1
    shown = capsys.readouterr().out
    assert "'{n} new comet' (agent/new.py)" in shown
    assert "zh: 3 messages, 1 without translation" in shown
    path = locale / "zh/program.po"
    path.write_text(re.sub(r'msgstr\[(\d)\] ""', r'msgstr[\1] "{n} 颗新彗星"', path.read_text("utf-8")), "utf-8")
    assert messages.main(["--check"]) == 0


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts that a person may see and that are no messages: of two words or more, or in a place that is shown."""

    def visit(node: ast.AST, shown: bool) -> Iterator[tuple[int, str]]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, (ast.Assert, ast.Subscript)):
            return
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                yield from visit(node.value, False)
            return
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in NOT_SHOWN:
                return
            messages_first = messages.PROGRAM.get(name, ())
            for place, argument in enumerate(node.args):
                if place not in messages_first:
                    yield from visit(argument, name == "Button")
            for keyword in node.keywords:
                yield from visit(keyword.value, keyword.arg in SHOWN_ARGUMENTS)
            yield from visit(node.func, False)
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = MARKUP.sub(" ", node.value)
            one_word = shown and re.search(r"[A-Za-z]{2,}", text) and not text.isupper()
            is_data = text in english.STORED or (text.startswith("\n") and text.islower())
            if not is_data and (one_word or SENTENCE.search(text)):
                yield node.lineno, node.value
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, shown and isinstance(node, (ast.JoinedStr, ast.IfExp, ast.BinOp)))

    yield from visit(tree, False)


def test_no_text_is_without_translation_and_no_listed_english_text_is_gone() -> None:
    wrong = [
        f"{name}:{line}: {text[:100]!r}"
        for name, tree in trees().items()
        for line, text in texts(tree)
        if not english.stays_english(name, text)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} texts are no messages; write tr(...):", *wrong[:80]])
    for name, known in english.NO_MESSAGES.items():
        assert known - {text for _, text in texts(trees()[name])} == set(), name
    assert [path for path in english.DOCUMENTS if not any(name.startswith(path) for name in trees())] == []


def test_a_planted_text_is_found() -> None:
    code = '''
"""Docstring of the module."""
def f(parser, gr, n):
    """A docstring of some words."""
    parser.add_argument("--x", help="one", metavar="N")
    parser.add_argument("--y", help=tr("the other one"))
    gr.Button("Save")
    raise ValueError(f"found {n} bad rows")
'''
    assert [text for _, text in texts(ast.parse(code))] == ["one", "Save", " bad rows"]


def test_nothing_is_translated_before_the_language_is_known() -> None:
    """At the level of a module or class, or as a default argument, ``tr`` would run while the program is imported."""
    wrong = []
    for name, tree in trees().items():
        todo: list[ast.AST] = [tree]
        while todo:
            node = todo.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                todo += [
                    *node.args.defaults,
                    *filter(None, node.args.kw_defaults),
                    *getattr(node, "decorator_list", []),
                ]
                continue
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "trn"):
                wrong.append(f"{name}:{node.lineno}")
            todo += ast.iter_child_nodes(node)
    assert not wrong


def test_messages_of_browser_modules_are_found_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.js").write_text(
        """// a comment: t('not this')
        const set = split('nor this')
        h('p', {}, `${t('in a template')}: ${n}`, t('a {b}', { b: x.join(t(', ')) }),
          tn('one', 'many {n}' + ' of them', n, { n: number(n) }), t("it's \\"here\\""), t(
            'long ' +
              'text',
          ), word('screening'), this.t('nor that'))
        """,
        encoding="utf-8",
    )
    monkeypatch.setattr(messages, "ROOT", tmp_path)
    expected = ["in a template", "a {b}", ", ", ("one", "many {n} of them"), 'it\'s "here"', "long text"]
    assert list(messages.messages_of("a.js")) == expected


def test_messages_are_translated_at_the_moment_of_use() -> None:
    help_text = deferred("Show the audit log and verify it.")
    assert tr(help_text) == "Show the audit log and verify it."
    with speaking("zh"):
        assert tr(help_text) == "显示审计日志并验证它。"
        assert tr("no such message {a}", a=1) == "no such message 1"
    with speaking(PSEUDO):
        assert tr("{a} of {b}", a=1, b=2) == "⟦1 of 2⟧"
        assert trn("{n} item", "{n} items", 2) == "⟦2 items⟧"
    assert (trn("{n} item", "{n} items", 1), trn("{n} item", "{n} items", 0)) == ("1 item", "0 items")
    assert trn("{n} item", "{n} items", 5000, n="5 000") == "5 000 items"


def test_a_thread_has_the_language_of_the_process_and_a_catalogue_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    language.catalogue.cache_clear()
    monkeypatch.setattr(language, "_of_process", "zh")
    texts: list[str] = []
    thread = threading.Thread(target=lambda: texts.append(tr("Documentation") and tr("Sign in")))
    thread.start()
    thread.join()
    assert texts == ["登录"]
    assert language.catalogue.cache_info().misses == 1


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "de:zh_TW:en"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LANG": "qps"}, "en"),
    ],
)
def test_the_command_line_speaks_the_language_of_the_environment(environment: dict[str, str], code: str) -> None:
    assert of_environment(environment) == code


def test_help_and_errors_of_the_command_line_in_chinese(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "_of_process", "en")
    monkeypatch.setenv("LANGUAGE", "zh")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "用法：spec-o3" in shown
    assert "显示审计日志并验证它。" in shown
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "错误" in capsys.readouterr().err
    monkeypatch.setenv("LC_ALL", "C")
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "error: argument COMMAND: invalid choice: 'nonsense'" in capsys.readouterr().err


@contextmanager
def an_app(folder: Path) -> Iterator[TestClient]:
    """A running app where one person works alone, without a language chosen."""
    with Store.open(folder / "annotations.db") as store:
        app = server.build(store, local=True)
        with TestClient(app, base_url=HERE, follow_redirects=False) as client:
            yield client


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with an_app(tmp_path_factory.mktemp("language")) as client:
        client.post("/sign-in", data={"initials": "AB"})
        yield client


@pytest.fixture
def client(running: TestClient) -> TestClient:
    """A browser in which nobody is signed in and no language is chosen."""
    running.cookies.clear()
    return running


def test_the_choice_comes_before_the_browsers_language(client: TestClient) -> None:
    for header, cookie, tag in (
        ("", "", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "", "zh-CN"),
        ("en;q=0.5, zh-TW", "", "zh-CN"),
        ("de-AT,de;q=0.9,zh;q=0.1", "", "zh-CN"),
        ("zh;q=0, en", "", "en"),
        ("zh;q=x, *;;q=", "", "en"),
        ("zh-CN", "en", "en"),
        ("en-GB", "zh", "zh-CN"),
        ("en-GB", "xx", "en"),
        ("zh", PSEUDO, "zh-CN"),
    ):
        page = client.get("/sign-in", headers={"Accept-Language": header, "Cookie": f"{COOKIE}={cookie}"})
        assert f'<html lang="{tag}">' in page.text, (header, cookie)
        assert ("谁在审阅" in page.text) == (tag == "zh-CN")


def test_the_sign_in_page_offers_the_languages_without_a_script(client: TestClient) -> None:
    english = client.get("/sign-in")
    assert 'href="sign-in?language=zh"' in english.text
    chosen = client.get("/sign-in?language=zh")
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/sign-in")
    assert "谁在审阅" in client.get("/sign-in").text
    assert client.get("/sign-in?language=xx").status_code == 200
    client.get("/sign-in?language=en")
    assert "Who is reviewing?" in client.get("/sign-in").text


def config_of(page: str) -> dict[str, Any]:
    match = re.search(r"window\.gradio_config = (\{.*?\});</script>", page, re.DOTALL)
    assert match
    config: dict[str, Any] = json.loads(match[1])
    return config


def test_the_page_is_built_in_the_language_of_the_request(client: TestClient) -> None:
    client.post("/sign-in", data={"initials": "AB"})
    english = client.get("/")
    chinese = client.get("/", headers={"Accept-Language": "zh-CN"})
    assert config_of(english.text)["title"] == "Spec-o3 review"
    assert config_of(chinese.text)["title"] == "Spec-o3 审阅"
    assert 'lang="en"' in english.text
    assert 'lang="zh-CN"' in chinese.text
    for page, script in ((english, "ui/language/en.js"), (chinese, "ui/language/zh.js")):
        first = re.search(r'<script[^>]*src="([^"]+)"', page.text)
        assert first
        assert first[1] == script
        assert client.get(f"/{script}").status_code == 200
    plain = client.get("/", headers={"Accept-Language": "zh-CN", "Accept-Encoding": "identity"})
    assert int(plain.headers["content-length"]) == len(plain.content)
    assert config_of(english.text)["root"] == HERE
    assert config_of(chinese.text)["root"] == f"{HERE}/zh"
    assert f"{HERE.removeprefix('http://')}/zh/static/js/" in chinese.headers["content-security-policy"]
    # An open page keeps its own language when another one is chosen.
    assert client.get("/zh/gradio_api/info").status_code == 200
    assert client.get("/zh/theme.css").status_code == 200


def test_the_address_of_a_language_opens_nothing_that_is_closed(tmp_path: Path) -> None:
    closed = ("/zh/", "/zh", "/zh/api/v1/me", "/zh/gradio_api/file=/etc/passwd", "/zh/gradio_api/app_id", "/en/config")
    with an_app(tmp_path) as client:
        assert client.get("/zh/gradio_api/info").status_code == 401
        client.post("/sign-in", data={"initials": "AB"})
        for path in (*closed, "/zh/monitoring", "/zh/docs/", "/zh/ui/review/review.js", "/xx/gradio_api/info"):
            assert client.get(path).status_code == 404, path
    assert without_language("/zh/gradio_api/upload") == "/gradio_api/upload"
    assert without_language("/zh/api/v1/me") == "/zh/api/v1/me"
    assert without_language("/") == "/"


def test_the_catalogue_of_the_page_is_kept_by_the_browser_until_it_changes(client: TestClient) -> None:
    answer = client.get("/ui/language/zh.js")
    assert answer.headers["cache-control"] == "no-cache"
    assert len(client.get("/ui/language/en.js").content) < 500
    again = client.get("/ui/language/zh.js", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/ui/language/qps.js").status_code == 404
    assert client.get("/ui/language/..%2f..%2fzh.js").status_code == 404
    assert '"Documentation": "文档"' in answer.text


# ---- logic

CODES = {"between the thresholds"}
"""Codes of three words or more that are also messages."""
TEXT_METHODS = {"startswith", "endswith", "replace", "removeprefix", "removesuffix", "find", "index", "partition"}


def texts_in_logic(tree: ast.Module, messages_of_all: str) -> Iterator[int]:
    """Lines that compare a text which people see: a translation, a message, or a part of one.

    Literals of one or two words are codes, which people see translated only.
    """
    translations = {
        target.id
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and translates(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }

    def is_text(node: ast.expr) -> bool:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return len(node.value.split()) > 2 and node.value not in CODES and node.value in messages_of_all
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return any(map(is_text, node.elts))
        return translates(node) or (isinstance(node, ast.Name) and node.id in translations)

    for node in ast.walk(tree):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TEXT_METHODS:
            operands = node.args[:1]
        if any(map(is_text, operands)):
            yield operands[0].lineno


def translates(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in messages.PROGRAM


def test_no_logic_compares_a_text_that_people_see() -> None:
    """ESLint has the same rule for the browser modules (tests/js/messages.js)."""
    known = "\n".join(
        text for part in PARTS for m in messages.extracted(part) for text in ([m] if isinstance(m, str) else m)
    )
    wrong = [f"{name}:{line}" for name, tree in trees().items() for line in texts_in_logic(tree, known)]
    assert not wrong, f"decide by a code, not by a text: {wrong}"


@pytest.mark.parametrize(
    "code",
    [
        'if answer == tr("Kept."): pass',
        'GONE = deferred("gone")\nif reason == GONE: pass',
        'if reason in ("nobody gave a score", "x"): pass',
        'match reason:\n  case "nobody gave a score": pass',
        'reason.replace("nobody gave a", "no")',
    ],
)
def test_a_text_in_logic_is_found(code: str) -> None:
    assert list(texts_in_logic(ast.parse(code), "nobody gave a score"))


def test_every_message_is_a_literal_and_gets_the_values_that_it_names() -> None:
    """``make messages`` reads the code. A wrong keyword fails only where the message is shown, which may be an error
    that no test provokes.
    """
    calls = [
        (f"{name}:{node.lineno}", node, node.args[: MESSAGES[node.func.id]])
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES
    ]
    assert [place for place, _, texts in calls if any(isinstance(t, (ast.JoinedStr, ast.BinOp)) for t in texts)] == []
    # The keys of **values are known only in a run.
    checked = [
        (place, node, [str(text.value) for text in texts if isinstance(text, ast.Constant)])
        for place, node, texts in calls
        if node.keywords and all(keyword.arg for keyword in node.keywords)
        if all(isinstance(text, ast.Constant) for text in texts)
    ]
    assert len(checked) > 1000
    assert [place for place, node, texts in checked if not gets_its_values(node, texts)] == []


def gets_its_values(call: ast.Call, texts: list[str]) -> bool:
    named = {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    given = {keyword.arg for keyword in call.keywords}
    return named - {"n", "shown"} <= given if len(texts) > 1 else named == given
