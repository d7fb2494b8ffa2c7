# SPDX-License-Identifier: Apache-2.0
"""sluice acct as a command: databases that move, and what it refuses. No cluster is needed."""

import os
import sqlite3
import stat
import subprocess

import pytest
from harness import Cluster


def acct(*words):
    return Cluster.sluice("acct", *words, check=False)


@pytest.fixture
def database(tmp_path):
    """An accounting database that knows a cluster with one change of its book."""
    path = str(tmp_path / "from.db")
    open(path, "w").close()
    assert acct("export", path, str(tmp_path / "empty.db")).rc == 0  # makes the tables
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO cluster (id, name) VALUES (1, 'it''s')")
        connection.execute("INSERT INTO txn (id, done_time, actor, action) VALUES (1, 5, 'root', 'Add Users')")
    return path


def names(path):
    with sqlite3.connect(path) as connection:
        return [row[0] for row in connection.execute("SELECT name FROM cluster")]


def test_export_and_import_bring_everything_along(database, tmp_path):
    exported, other = str(tmp_path / "exported"), str(tmp_path / "other.db")
    result = acct("export", database, exported)
    assert (result.rc, result.out, result.err) == (0, f"2 rows from {database} to {exported}\n", "")
    assert stat.S_IMODE(os.stat(exported).st_mode) == 0o600
    assert acct("import", exported, other).rc == 0
    assert names(other) == ["it's"]


def test_nothing_is_overwritten(database, tmp_path):
    exported = str(tmp_path / "exported")
    acct("export", database, exported)
    result = acct("export", database, exported)
    assert result.rc == 1
    assert result.err == f"sluice acct: error: {exported} is there already; name a new file\n"
    result = acct("import", exported, database)
    assert result.rc == 1
    assert "is not empty: its table cluster has 1 rows" in result.err
    assert names(database) == ["it's"]


def test_a_failed_export_leaves_no_file_and_no_other_is_made(database, tmp_path):
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE sluice_meta SET value = 1000 WHERE name = 'version'")
    result = acct("export", database, str(tmp_path / "exported"))
    assert result.rc == 1 and "was written by a newer release" in result.err
    assert acct("export", str(tmp_path / "typo.db"), str(tmp_path / "exported")).rc == 1
    assert acct("load", database, str(tmp_path / "typo.db")).rc == 1
    assert {name for name in os.listdir(tmp_path) if "typo" in name or "exported" in name} == set()


@pytest.mark.parametrize("part, said", [(0.5, "the file system is full"), (1.5, "could not be finished: its log is not in it")])
def test_a_full_file_system_leaves_no_half_of_an_export(database, tmp_path, part, said):
    with sqlite3.connect(database) as connection:
        connection.executemany("INSERT INTO txn (id, done_time, actor, action, info) VALUES (?, 5, 'root', 'Add', ?)",
                               [(n, "x" * 1000) for n in range(2, 3000)])
    small = tmp_path / "small"
    small.mkdir()
    size = int(os.stat(database).st_size * part)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", small], check=True)
    try:
        result = acct("export", database, str(small / "exported"))
        assert result.rc == 1 and said in result.err
        assert os.listdir(small) == []
        subprocess.run(["mount", "-o", f"remount,size={size * 10}", small], check=True)
        assert acct("export", database, str(small / "exported")).rc == 0
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.parametrize("words, said", [
    (("import", "/does/not/exist", "to.db"), "cannot read /does/not/exist: No such file or directory"),
    (("load", "/does/not/exist", "to.db"), "cannot open the accounting database"),
    (("export", "/does/not/exist", "file"), "cannot open the accounting database /does/not/exist"),
    (("export", "mysql://host", "file"), "the database's name is missing"),
    (("export", "mysql:///acct?socket=/does/not/exist", "file"), "is the server running"),
    (("export", "postgresql:///acct?socket=/does/not/exist", "file"), "is the server running"),
])
def test_refusals_say_what_is_wrong(tmp_path, words, said):
    words = [word if "/" in word or word in ("import", "export", "load") else str(tmp_path / word) for word in words]
    result = acct(*words)
    assert result.rc == 1
    assert said in result.err
    assert not os.path.exists(str(tmp_path / "file"))


def test_a_file_that_is_no_database_is_told_so(tmp_path):
    junk = tmp_path / "junk"
    junk.write_text("not a database, but long enough to be looked at\n" * 100)
    result = acct("import", str(junk), str(tmp_path / "to.db"))
    assert result.rc == 1
    assert "is damaged or no accounting database" in result.err
    assert acct("--help").out.startswith("Usage: sluice acct export DATABASE FILE\n")
    assert acct("frobnicate").rc == 1
