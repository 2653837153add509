"""`anypag studio` as it is typed: the address, Ctrl-C, a second studio on the same file."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio_examples import small_table

COMMAND = [sys.executable, "-m", "anypag", "studio", "--no-browser"]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "ANYPAG_STUDIO": str(tmp_path / "home")}


@pytest.fixture
def studio(tmp_path: Path, home: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    table = small_table(tmp_path / "my table.csv")
    running = subprocess.Popen([*COMMAND, str(table)], env=home, stdout=subprocess.PIPE, text=True)
    yield running
    running.kill()
    running.communicate()


def address(studio: subprocess.Popen[str]) -> str:
    assert studio.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/\S{20,}/", studio.stdout.readline())
    assert found is not None
    return found[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_a_page_until_it_is_ended(
    studio: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    with urllib.request.urlopen(address(studio)) as page:
        assert b"anypag studio" in page.read()
    studio.send_signal(number)
    told, _ = studio.communicate(timeout=60)
    assert studio.returncode == 0 and f"`anypag studio '{tmp_path / 'my table.csv'}'` continues from them" in " ".join(
        told.split()
    )


def test_a_second_studio_on_the_same_file_names_the_first(
    studio: subprocess.Popen[str], home: dict[str, str], tmp_path: Path
) -> None:
    first = address(studio)
    second = subprocess.run(
        [*COMMAND, str(tmp_path / "my table.csv")], env=home, capture_output=True, text=True, check=False, timeout=120
    )
    assert second.returncode == 1 and first in second.stderr


def test_a_file_that_is_not_there_is_said(home: dict[str, str]) -> None:
    done = subprocess.run([*COMMAND, "nothing.csv"], env=home, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "There is no file nothing.csv" in done.stderr


def test_a_port_that_is_taken_is_named_and_the_help_says_what_is_optional(home: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = subprocess.run(
            [*COMMAND, "--port", port], env=home, capture_output=True, text=True, check=False, timeout=120
        )
    assert refused.returncode == 2 and f"port {port}" in refused.stderr and "Leave --port out" in refused.stderr
    told = subprocess.run([*COMMAND, "--help"], env=home, capture_output=True, text=True, check=True).stdout
    assert told.startswith("Usage: anypag studio [OPTIONS] [FILE]")
