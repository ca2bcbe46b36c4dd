"""The files of urdf_samples/broken: each has the codes its table says, in bounded time and memory, without a sound."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from knuckle import DescriptionError, PinRobot
from knuckle.robot.finding_codes import ERROR, KINDS, WARNING
from knuckle.robot.findings import Finding

from . import samples

FOLDER = samples.FOLDER / "broken"
TABLE: dict[str, list[str]] = {
    file: re.findall(r"`([a-z-]+)`", codes)
    for file, codes in re.findall(r"^\| `(\S+)` \| (.*) \|$", (FOLDER / "README.md").read_text(), re.MULTILINE)
}
UNSEEN = {  # codes for which there can be no tiny file: why, or the test that has one
    "file-missing": "test_loading.py",
    "file-folder": "test_loading.py",
    "file-unreadable": "test_loading.py",
    "file-too-large": "test_loading.py",
    "format-unsupported": "test_formats.py",
    "pinocchio-refuses": "a gap in the checks, none is known",
    "root-second": "test_formats.py, it needs root_joint",
    "home-contact": "test_srdf.py",
    "home-contact-unchecked": "test_collision_pairs.py",
    "srdf-incomplete": "test_srdf.py",
    "srdf-foreign": "test_srdf.py",
    "srdf-unknown-name": "test_srdf.py",
    "srdf-tcp": "test_scene_robot.py",
}


def findings_of(file: str, *, strict: bool = False) -> tuple[Finding, ...]:
    load = PinRobot.from_urdf if file.endswith(".urdf") else PinRobot.from_file
    try:
        return load(FOLDER / file, strict=strict).findings
    except DescriptionError as error:
        return error.findings


@pytest.mark.parametrize("file", TABLE)
def test_a_broken_file_has_the_codes_of_the_table(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = findings_of(file)
    assert sorted({one.code for one in found}) == sorted(TABLE[file])
    assert capfd.readouterr() == ("", "")  # not a word of the parsers behind
    for one in found:
        assert one.severity == KINDS[one.code].severity
        assert one.problem and one.remedy and one.where
        assert one.effect or one.severity == ERROR


@pytest.mark.parametrize("file", TABLE)
def test_strict_mode_refuses_errors_and_warnings_and_nothing_else(file: str) -> None:
    bad = any(KINDS[code].severity in (ERROR, WARNING) for code in TABLE[file])
    load = PinRobot.from_urdf if file.endswith(".urdf") else PinRobot.from_file
    if bad:
        with pytest.raises(DescriptionError, match=re.escape(Path(file).stem)):
            load(FOLDER / file, strict=True)
    else:
        assert load(FOLDER / file, strict=True)


def test_the_table_is_whole() -> None:
    files = {path.name for path in FOLDER.iterdir()} - {"README.md", "garbage.stl", "flat.obj"}
    assert files == set(TABLE) and len(TABLE) >= 40
    seen = {code for codes in TABLE.values() for code in codes}
    assert seen | set(UNSEEN) == set(KINDS)


CHILD = """
import json, logging, resource, sys, time
logging.disable(logging.CRITICAL)
from knuckle import DescriptionError, PinRobot
warm = PinRobot.from_file(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
worst = 0.0
for file in sys.argv[2:]:
    start = time.process_time()
    try:
        PinRobot.from_file(file)
    except DescriptionError:
        pass
    worst = max(worst, time.process_time() - start)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps({"worst": worst, "grown": grown / 1024}))
"""


def test_broken_files_take_bounded_time_and_memory(tmp_path: Path) -> None:
    """No more than a hundred times what they hold, and seconds where the work of a good file is a hundredth of one."""
    large = tmp_path / "large.urdf"  # 50 MB
    large.write_bytes(b'<robot name="r">' + b"<link name='a'/>" * (50 * 2**20 // 16) + b"</robot>")
    flood = tmp_path / "flood.urdf"  # as many faults as fit into 2 MB
    flood.write_text('<robot name="r">' + '<joint type="x"/>' * (2**21 // 17) + "</robot>")
    strangers = tmp_path / "strangers.urdf"  # none of which is like any of many others
    links = "".join(f'<link name="link_{i}"/>' for i in range(3000))
    ends = "".join(f'<joint name="j{i}"><parent link="lonk_{i}"/><child link="lunk_{i}"/></joint>' for i in range(9000))
    strangers.write_text(f'<robot name="r">{links}{ends}</robot>')
    files = [str(FOLDER / file) for file in TABLE] + [str(large), str(flood), str(strangers)]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(samples.path_of("planar_2r")), *files],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    figures = json.loads(done.stdout)
    assert figures["worst"] < 30 and figures["grown"] < 700, figures  # seconds of the processor, MB
