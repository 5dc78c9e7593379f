"""Every fault of faults.toml can be planted: a place that has changed is named here, not after the long run."""

from tests.planted.faults import ROOT, read_faults


def test_every_fault_can_be_planted() -> None:
    faults = read_faults()
    assert len({fault.what for fault in faults}) == len(faults) >= 60
    for fault in faults:
        text = (ROOT / fault.file).read_text(encoding="utf-8")
        assert fault.planted(text) != text
        assert all((ROOT / tests.split("::")[0]).exists() for tests in fault.tests), fault.tests
