from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.mcp import roots
from agent.mcp.desk import Client, McpError
from agent.mcp.roots import Roots
from agent.spectrum import read
from agent.spectrum.readers import own
from tests.support.campaign import a_spectrum
from tests.support.inputs.spectra import desi, redrock

CLIENT = Client("a")
SECRET = "classified"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A root with spectra, beside it what must not be read."""
    root, outside = tmp_path / "root", tmp_path / SECRET
    (root / "deep").mkdir(parents=True)
    outside.mkdir()
    own.write(a_spectrum("x.fits"), root / "deep" / "x.fits")
    own.write(a_spectrum("y.fits"), outside / "y.fits")
    (root / "link.fits").symlink_to(outside / "y.fits")
    (root / "folder").symlink_to(outside)
    (root / "inner.fits").symlink_to(root / "deep" / "x.fits")
    (root / "labels.csv").write_text(f"file,label\nx.fits,{SECRET}\n", encoding="utf-8")
    (root / "broken.fits").write_bytes(b"SIMPLE  = " + SECRET.encode() * 20)
    os.mkfifo(root / "pipe.fits")
    return root


def test_a_file_below_a_root_is_read(folder: Path, tmp_path: Path):
    (tmp_path / "second").mkdir()
    served = Roots([tmp_path / "second", folder])
    for path in ("deep/x.fits", "./deep//x.fits"):
        assert served.find(path, None, CLIENT) == read(folder / "deep" / "x.fits")
    assert served.find("deep/y.fits", None, CLIENT) is None
    assert served.find("deep/x.fits/y", None, CLIENT) is None
    assert served.find("n" * 300, None, CLIENT) is None


def test_a_root_that_is_a_link_is_the_folder_that_it_leads_to(folder: Path, tmp_path: Path):
    (tmp_path / "named").symlink_to(folder)
    assert Roots([tmp_path / "named"]).find("deep/x.fits", None, CLIENT) is not None


@pytest.mark.parametrize(
    "path",
    [
        "../classified/y.fits",
        "deep/../../classified/y.fits",
        "deep/..",
        "..",
        "..\\classified\\y.fits",
        "/{outside}/y.fits",
        "//server/share/y.fits",
        "C:\\y.fits",
        "c:y.fits",
        "\\y.fits",
        "~/y.fits",
        "~root",
        "deep/x.fits\0.png",
        "link.fits",
        "inner.fits",
        "folder/y.fits",
        "folder",
        "folder/none",
        "deep",
        ".",
        "pipe.fits",
        "labels.csv",
        "broken.fits",
    ],
)
def test_any_other_path_is_refused_in_one_sentence_that_names_nothing(folder: Path, tmp_path: Path, path: str):
    path = path.format(outside=tmp_path / SECRET)
    with pytest.raises(McpError) as refused:
        Roots([folder]).find(path, None, CLIENT)
    message = str(refused.value)
    assert "\n" not in message
    assert message.startswith("path")
    unnamed = message.replace(repr(path), "").replace(repr(path)[1:-1], "")
    assert SECRET not in unnamed
    assert str(tmp_path) not in unnamed


def test_whether_a_file_outside_exists_makes_no_difference(folder: Path):
    messages = []
    for name in ("y.fits", "n.fits"):
        for path in (f"../{SECRET}/{name}", f"folder/{name}"):
            with pytest.raises(McpError) as refused:
                Roots([folder]).find(path, None, CLIENT)
            messages.append(str(refused.value).replace(name, ""))
    assert messages[:2] == messages[2:]


def test_a_large_file_is_not_opened(folder: Path, monkeypatch):
    monkeypatch.setattr(roots, "MOST_BYTES", 100)
    with pytest.raises(McpError, match="GiB"):
        Roots([folder]).find("deep/x.fits", None, CLIENT)


@pytest.fixture
def coadd(folder: Path) -> Roots:
    """A file of three spectra, beside which a catalogue has their classes."""
    (folder / "coadd-a.fits").write_bytes(desi(3))
    (folder / "redrock-a.fits").write_bytes(redrock((1, 2, 3)))
    return Roots([folder])


def test_a_spectrum_of_several_is_chosen_by_identifier_or_place(folder: Path, coadd: Roots):
    second = read(folder / "coadd-a.fits", 2)
    assert coadd.find("coadd-a.fits", "2", CLIENT) == coadd.find("coadd-a.fits", "#2", CLIENT) == second
    for target in (None, "#0", "#4", "#x", "77", ""):
        with pytest.raises(McpError, match="target"):
            coadd.find("coadd-a.fits", target, CLIENT)


@pytest.mark.parametrize("kind", ["STAR", "STAR CV", "GALAXY", "QSO"])
def test_a_selection_by_class_does_not_tell_the_class(coadd: Roots, kind: str):
    with pytest.raises(McpError, match=r"^target: found"):
        coadd.find("coadd-a.fits", f"targetid=1,spectype={kind}", CLIENT)
