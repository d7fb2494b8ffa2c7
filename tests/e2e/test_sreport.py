# SPDX-License-Identifier: Apache-2.0
"""sreport from the controller's own history."""

from harness import OTHER, USER, wait_until

NOW = "start=now-2hours end=now+2hours"


def used(cluster, report, **options):
    """Rows of a report in seconds, split."""
    return [line.split("|") for line in cluster.ok(f"sreport -n -P -Q -t seconds {report} {NOW}", **options).splitlines()]


def test_users_and_accounts_with_what_they_used(make_cluster, work):
    cluster = make_cluster(nodes=1, cpus=4, conf="MinJobAge=2\n")
    for change in ("account science", "account physics parent=science", "account physics_x parent=science",
                   f"user {USER} account=physics", f"user {OTHER} account=science"):
        cluster.ok(f"sacctmgr -i add {change}", user="root")
    first = cluster.submit("-W -n 2 -A physics -o /dev/null --wrap='sleep 2'", cwd=work)
    second = cluster.submit("-W -n 4 -A science -D /tmp -o /dev/null --wrap='sleep 2'", user=OTHER)
    wait_until(lambda: cluster.run(f"squeue -h -j {first}").rc == 1, 20, 0.2, "squeue forgets the job")
    top = used(cluster, "user topusage")
    assert [row[1] for row in top] == [OTHER, USER]
    ran = [int(cluster.sacct(f"{job} -X", "ElapsedRaw")[0][0]) for job in (second, first)]
    assert min(ran) >= 2 and [int(row[4]) for row in top] == [4 * ran[0], 2 * ran[1]], top
    rows = used(cluster, "cluster accountutilizationbyuser")
    assert [row[1:3] for row in rows] == [["root", ""], ["science", ""], ["science", OTHER], ["physics", ""],
                                          ["physics", USER]]
    total = int(top[0][4]) + int(top[1][4])
    assert [int(row[4]) for row in rows] == [total, total, int(top[0][4]), int(top[1][4]), int(top[1][4])]
    assert [row[1] for row in used(cluster, "user topusage accounts=physics")] == [USER]
    sizes = used(cluster, "job sizesbyaccount grouping=3 printjobcount")
    assert [row[:4] for row in sizes] == [[sizes[0][0], "science", "1", "1"]]
    # What became of the capacity adds up.
    line = used(cluster, "cluster utilization")[0]
    allocated, down, planned_down, idle, planned, reported = map(int, line[1:])
    assert allocated == total and abs(allocated + down + planned_down + idle + planned - reported) <= 2
    assert cluster.ok(f"sreport -n -P -T ALL cluster utilization {NOW} -Q").count("\n") >= 3


def test_requeued_runs_count_as_well(cluster, work):
    job = cluster.submit("-J again --requeue -n 3 -o /dev/null --wrap='exec sleep 1000'", cwd=work)
    cluster.wait_state(job, "RUNNING")
    wait_until(lambda: int(cluster.sacct(f"{job} -X", "ElapsedRaw")[0][0]) >= 2, 20, 0.2, "it runs for 2 seconds")
    cluster.ok(f"scontrol requeuehold {job}", user="root")
    cluster.wait_state(job, "PENDING")
    before = used(cluster, f"user topusage users={USER}")
    assert int(before[0][4]) >= 6
    cluster.ok(f"scancel {job}")


def test_what_is_wrong_is_told(cluster):
    for arguments, words in (("", "which report"), ("nosuch", "invalid keyword: nosuch"), ("user", "too few arguments"),
                             ("user nosuch", "Valid user reports are"), ("user topusage x=1", "Unknown condition: x=1"),
                             ("user topusage start=foo", "Invalid time specification"), ("-T x user top", "No valid TRES"),
                             ("-t x user top", "unknown time format x"), ("user top format=x", "Unknown field 'x'"),
                             ("job sizesbyaccount grouping=5,3", "ascending numbers"),
                             ("reservation utilization", "not supported")):
        result = cluster.run(f"sreport {arguments}")
        assert result.rc == 1 and words in result.err, str(result)
