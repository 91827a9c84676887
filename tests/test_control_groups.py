"""Limits of containers and services are those of the smallest group around a process."""

import math
from pathlib import Path

import pytest

from dragoman.control_groups import memory_limit, share_of_time

VERSION_2 = "0::/pods/one\n"
VERSION_1 = (
    "12:hugetlb,memory:/pods/one\n"
    "4:cpu,cpuacct:/pods/one\n"
    "2:cpuset:/others\n"
    "1:name=systemd:/a:b\n"
    "0::/x\n"
)


def write(groups: Path, limits: dict[str, str]) -> None:
    for name, limit in limits.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(f"{limit}\n")


def quota(group: str, time: int, period: int = 100_000) -> dict[str, str]:
    return {f"{group}/cpu.cfs_quota_us": str(time), f"{group}/cpu.cfs_period_us": str(period)}


@pytest.mark.parametrize(
    ("own", "limits", "share"),
    [
        (VERSION_2, {}, math.inf),
        (VERSION_2, {"cpu.max": "max 100000", "pods/one/cpu.max": "max 100000"}, math.inf),
        (VERSION_2, {"cpu.max": "max 100000", "pods/one/cpu.max": "150000 100000"}, 1.5),
        (
            VERSION_2,
            {
                "pods/cpu.max": "200000 100000",
                "pods/one/cpu.max": "800000 100000",
                "pods/other/cpu.max": "1000 100000",
            },
            2.0,
        ),
        (VERSION_2, {"cpu.max": "50000 100000"}, 0.5),
        (VERSION_1, quota("cpu/pods/one", -1) | quota("cpu", -1), math.inf),
        (VERSION_1, quota("cpu/pods/one", -1) | quota("cpu/pods", 30_000, 20_000), 1.5),
        (VERSION_1, quota("cpu", 250_000) | quota("memory/pods/one", 1), 2.5),  # in a container
        (VERSION_1, quota("cpu/pods/one", 100_000, 0) | {"cpu/cpu.cfs_quota_us": "x"}, math.inf),
        (VERSION_1, quota("cpu/others", 1_000), math.inf),
        ("", quota("cpu", 250_000), math.inf),
    ],
)
def test_the_time_is_that_of_the_smallest_group_around_a_process(
    own: str, limits: dict[str, str], share: float, tmp_path: Path
) -> None:
    (tmp_path / "cgroup").write_text(own)
    write(tmp_path / "groups", limits)

    assert share_of_time(tmp_path / "cgroup", tmp_path / "groups") == share


@pytest.mark.parametrize(
    ("own", "limits", "limit"),
    [
        (VERSION_2, {"pods/one/memory.max": "max", "memory.max": "max"}, math.inf),
        (VERSION_2, {"pods/one/memory.max": "max", "pods/memory.max": "2048"}, 2048),
        (VERSION_2, {"pods/one/memory.max": "4096", "memory.max": "8192"}, 4096),
        (VERSION_1, {"memory/pods/one/memory.limit_in_bytes": "9223372036854771712"}, 2.0**63),
        (VERSION_1, {"memory/memory.limit_in_bytes": "1024"}, 1024),  # in a container
        (VERSION_1, {"memory.limit_in_bytes": "1", "cpu/memory.limit_in_bytes": "1"}, math.inf),
    ],
)
def test_the_memory_is_that_of_the_smallest_group_around_a_process(
    own: str, limits: dict[str, str], limit: float, tmp_path: Path
) -> None:
    (tmp_path / "cgroup").write_text(own)
    write(tmp_path / "groups", limits)

    assert memory_limit(tmp_path / "cgroup", tmp_path / "groups") == pytest.approx(limit)


def test_without_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert share_of_time(tmp_path / "none", tmp_path) == math.inf
    assert memory_limit(tmp_path / "none", tmp_path) == math.inf
