"""Spectra of one's own with a label table: found without being read, asked with what the table says."""

import os
from pathlib import Path

import pytest

from agent.spectrum import Spectrum
from training.data import DataError, Dropped, questions
from training.data import survey_files as survey_files_module


@pytest.fixture
def spectra(tmp_path: Path) -> Path:
    folder = tmp_path / "spectra"
    folder.mkdir()
    for number in range(4):
        lines = "\n".join(f"{4000 + 5 * n},{number + 1}.0,0.1" for n in range(40))
        (folder / f"{number}.csv").write_text(f"wavelength,flux,error\n{lines}\n")
    return folder


def table(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n")
    return path


def test_labelled_files_are_asked_and_the_others_are_left_out(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES", "1.csv,NO", "9.csv,NO")
    dropped: list[Dropped] = []
    asked = questions([spectra], None, labels, task="cv", dropped=dropped)
    assert [(q.source, q.label, q.task.key) for q in asked] == [("0.csv", "YES", "cv"), ("1.csv", "NO", "cv")]
    assert [q.key for q in asked] == ["spectra/0.csv", "spectra/1.csv"]
    assert asked[1].spectrum().flux[0] == 2.0
    assert [(one.key, one.reason) for one in dropped] == [
        ("spectra/2.csv", "no label in truth.csv"),
        ("spectra/3.csv", "no label in truth.csv"),
        ("9.csv", "in truth.csv but not among the spectra"),
    ]


def test_no_spectrum_is_read_until_it_is_asked_for(
    spectra: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(path: Path, target: str) -> Spectrum:
        read.append(path.name)
        return survey_files_module._file(path).read(target)  # type: ignore[return-value]

    monkeypatch.setattr(survey_files_module, "_read", noted)
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES", "1.csv,NO")
    asked = questions([spectra], None, labels, task="cv")
    assert (asked[0].survey, asked[0].snr, read) == ("", None, [])
    known = asked[0].known(asked[0].spectrum())
    assert (known.survey, known.snr, read) == ("unknown", pytest.approx(10.0), ["0.csv"])


def test_a_table_with_tasks_asks_each_of_them(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label,task", "0.csv,YES,cv", "0.csv,NO,carbon", "1.csv,1,A")
    asked = questions([spectra], None, labels)
    assert [(q.source, q.task.key, q.label) for q in asked] == [
        ("0.csv", "cv", "YES"),
        ("0.csv", "cc", "NO"),
        ("1.csv", "a", "YES"),
    ]
    assert [q.source for q in questions([spectra], None, labels, task="a")] == ["1.csv"]


def test_a_table_may_say_survey_and_noise(spectra: Path, tmp_path: Path) -> None:
    rows = ("file,label,survey,snr", "0.csv,YES,simulated DESI,12.5", "1.csv,NO,,")
    one, other = questions([spectra], None, table(tmp_path / "truth.csv", *rows), task="cv")
    assert (one.survey, one.snr, one.simulated) == ("simulated DESI", 12.5, True)
    assert (other.survey, other.snr, other.simulated) == ("", None, False)
    with pytest.raises(DataError, match=r"truth\.csv: row 2: snr: found 'high', wanted a number"):
        questions([spectra], None, table(tmp_path / "truth.csv", "file,label,snr", "0.csv,YES,high"), task="cv")


def test_a_target_that_is_not_in_the_file_is_left_out(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,target,label", "0.csv,,YES", "1.csv,39,NO")
    dropped: list[Dropped] = []
    assert [q.source for q in questions([spectra], None, labels, task="cv", dropped=dropped)] == ["0.csv"]
    assert Dropped("1.csv#39", "in truth.csv but not among the spectra") in dropped


def test_a_table_without_tasks_needs_one_named(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES")
    with pytest.raises(DataError, match=r"truth\.csv: found no column task, wanted one, or one task named"):
        questions([spectra], None, labels)


def test_an_unknown_task_in_a_table_is_named(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label,task", "0.csv,YES,comet")
    with pytest.raises(DataError, match=r"truth\.csv: row 2: task: found 'comet'"):
        questions([spectra], None, labels)


def test_a_folder_may_bring_its_own_labels(spectra: Path) -> None:
    table(spectra / "labels.csv", "file,label,task", "3.csv,NO,wd")
    dropped: list[Dropped] = []
    (question,) = questions([spectra], dropped=dropped)
    assert (question.source, question.task.key) == ("3.csv", "wd")
    assert "labels.csv" not in {one.key for one in dropped}


def test_a_list_may_be_its_own_label_table(spectra: Path, tmp_path: Path) -> None:
    listed = table(tmp_path / "set.csv", "file,label,task", "spectra/2.csv,YES,b", "spectra/0.csv,NO,b")
    assert [(q.source, q.label) for q in questions([listed])] == [("2.csv", "YES"), ("0.csv", "NO")]


def test_spectra_without_labels_are_refused(spectra: Path) -> None:
    with pytest.raises(DataError, match="found no labels; name a table with columns file and label"):
        questions([spectra])


def test_keys_do_not_depend_on_where_one_stands(spectra: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(spectra / "labels.csv", "file,label,task", "3.csv,NO,wd")
    here = [q.key for q in questions([spectra])]
    monkeypatch.chdir(tmp_path)
    assert [q.key for q in questions([Path("spectra")])] == here == ["3.csv"]


def test_a_file_that_is_no_spectrum_is_left_out_with_the_reason(spectra: Path, tmp_path: Path) -> None:
    (spectra / "bad.fits").write_bytes(b"\x89PNG\r\n\x1a\n")
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES", "bad.fits,NO")
    dropped: list[Dropped] = []
    assert len(questions([spectra], None, labels, task="cv", dropped=dropped)) == 1
    assert Dropped("spectra/bad.fits", "cannot be read: found a PNG picture") in dropped
    assert [one.key for one in dropped].count("bad.fits") == 0


def test_a_spectrum_that_turns_out_damaged_is_named(spectra: Path, tmp_path: Path) -> None:
    labels = table(tmp_path / "truth.csv", "file,label", "0.csv,YES")
    (question,) = questions([spectra], None, labels, task="cv")
    os.truncate(spectra / "0.csv", 30)
    with pytest.raises(DataError, match=r"0\.csv: found"):
        question.spectrum()


def test_other_surveys_are_asked_target_by_target(shared: Path, tmp_path: Path) -> None:
    folder = shared / "spectra"
    desi = folder / "desi/QSO/coadd-1-80693-thru20210204.fits"
    lamost = folder / "lamost/STAR_A0/spec-55939-GAC_061N46_V3_sp07-078.fits"
    from agent.spectrum.readers import opened

    with opened(desi) as targets:
        first, second = targets.names[:2]
    rows = [f"{desi.name},{target},NO,o" for target in (second, first)]
    labels = table(tmp_path / "truth.csv", "file,target,label,task", *rows, f"{lamost.name},,YES,a")
    asked = questions([desi, lamost], None, labels)
    assert [q.source for q in asked] == [f"{desi.name}#{second}", f"{desi.name}#{first}", lamost.name]
    known = [q.known(q.spectrum()) for q in asked]
    assert [q.survey for q in known] == ["DESI", "DESI", "LAMOST"]
    assert all(q.snr is not None for q in known)
