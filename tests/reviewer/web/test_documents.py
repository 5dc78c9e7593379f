"""The documents under /docs/: what is served, how it is written, and what is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.store import Store
from reviewer.web.documents import ROOT, Documents

HERE = "http://127.0.0.1:7860"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The browser of a person who works alone."""
    with Store.open(tmp_path_factory.mktemp("documents") / "annotations.db") as store:
        store.accounts.add_person("AB", "Ada", ["coordinator"])
        yield TestClient(server.build(store, local=True), base_url=HERE)


ALL = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))


def test_the_list_has_every_document_with_its_title(client: TestClient) -> None:
    page = client.get("/docs/")
    assert page.status_code == 200
    for name in [*ALL, "README.md", "SECURITY.md"]:
        assert f'href="./{name}"' in page.text, name
    assert ">How to review</a>" in page.text
    # A page runs no script of its own, and sends nothing.
    policy = client.get("/docs/reviewing.md").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 127.0.0.1:7860/ui/" in policy
    assert "unsafe" not in policy


def test_what_is_around_a_document_is_in_the_language_of_the_request(client: TestClient) -> None:
    chinese = {"Accept-Language": "zh-CN"}
    for name, own in (("reviewing.md", "en"), ("zh/reviewing.md", "zh-CN")):
        english, page = client.get(f"/docs/{name}").text, client.get(f"/docs/{name}", headers=chinese).text
        assert '<html lang="en">' in english
        assert '<html lang="zh-CN">' in page
        assert f'<main id="text" lang="{own}">' in page
        assert ">On this page</p>" in english
        assert ">本页内容</p>" in page
        assert ">Skip to the text</a>" not in page
        assert re.search(r"<main.*</main>", english, re.DOTALL)[0] == re.search(r"<main.*</main>", page, re.DOTALL)[0]  # type: ignore[index]
    missing = client.get("/docs/nothing.md", headers=chinese)
    assert missing.status_code == 404
    assert "<h1>没有这个文档</h1>" in missing.text
    manifest = client.get("/manifest.json", headers=chinese)
    assert manifest.json()["lang"] == "zh-CN"
    assert "Accept-Language" in manifest.headers["vary"]


@pytest.mark.parametrize("name", [*ALL, "README.md", "SECURITY.md"])
def test_every_link_and_picture_of_a_document_is_served(client: TestClient, name: str) -> None:
    text = client.get(f"/docs/{name}").text
    main = text.split("<main", 1)[1].split("</main>")[0]
    assert "<h1" in main
    assert "style=" not in text
    for target in re.findall(r'(?:href|src)="([^"]*)"', main):
        if target.startswith(("http:", "https:")):
            continue
        path, _, fragment = target.partition("#")
        answer = client.get(urljoin(f"/docs/{name}", path))
        assert answer.status_code == 200, f"{name}: {target}"
        assert not fragment or f'id="{fragment}"' in answer.text, f"{name}: {target}"


def test_html_in_a_document_is_text_and_a_link_to_no_document_is_none(tmp_path: Path) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# A `b`\n\n## One\n\n## One\n\n|x|\n|--:|\n|1|\n")
    (tmp_path / "docs" / "deep" / "c.md").write_text(
        "# C\n<script>alert(1)</script> [a](../a.md#one-1) [code](../../app.py) [bad](javascript:alert(1)) "
        "[far](https://example.org/) ![p](../p.png)\n"
    )
    (tmp_path / "docs" / "p.png").write_bytes(b"picture")
    documents = Documents(tmp_path)
    html = documents.document("deep/c.md").html
    assert "&lt;script&gt;" in html
    assert 'href="../a.md#one-1"' in html
    assert "app.py, in the repository" in html
    assert "javascript:" not in re.findall(r'href="[^"]*"', html)
    assert 'rel="noopener noreferrer"' in html
    assert 'src="../p.png"' in html
    first = documents.document("a.md")
    assert first.title == "A b"
    assert [heading.id for heading in first.headings] == ["a-b", "one", "one-1"]
    assert '<td class="right">1</td>' in first.html
    written = (tmp_path / "docs" / "a.md").stat()
    (tmp_path / "docs" / "a.md").write_text("# New\n")
    # As written within the same tick of the clock: its size tells.
    os.utime(tmp_path / "docs" / "a.md", ns=(written.st_atime_ns, written.st_mtime_ns))
    assert documents.document("a.md").title == "New"
    (tmp_path / "docs" / "a.md").write_text("# Now\n")
    os.utime(tmp_path / "docs" / "a.md", ns=(written.st_atime_ns, written.st_mtime_ns + 10**9))
    assert documents.document("a.md").title == "Now"


def test_nothing_but_the_listed_files_is_served(client: TestClient) -> None:
    outside = "../annotations.db %2e%2e/pyproject.toml ..%2fapp.py design/../../app.py measurements.json x.md"
    for path in outside.split():
        answer = client.get(f"/docs/{path}")
        assert answer.status_code == 404, path
        assert "[project]" not in answer.text
        assert "def main" not in answer.text


def test_a_program_without_its_documents_says_where_they_are(tmp_path: Path, client: TestClient) -> None:
    empty = Documents(tmp_path)
    assert empty.groups == {}
    with Store.open(tmp_path / "annotations.db") as store:
        app = server.build(store, local=True)
        app.state.context = replace(app.state.context, documents=empty)
        store.accounts.add_person("AB", "Ada", ["coordinator"])
        page = TestClient(app, base_url=HERE).get("/docs/")
    assert page.status_code == 200
    assert f"expected the folder <code>{tmp_path / 'docs'}</code>" in page.text
