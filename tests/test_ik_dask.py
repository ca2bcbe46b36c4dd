"""A batch on the executor of a Dask client with two workers, the same answers as at home."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from knuckle import Obstacle, Task, Transformation, ik

from . import samples
from .ik_cases import clear_configuration

distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'knuckle[dask]'")


@pytest.mark.filterwarnings("ignore")  # of Dask's own modules at import, of its servers at the end
def test_a_local_cluster_of_two_workers_gives_the_answers_of_one_process(tmp_path: Path) -> None:
    robot = samples.load("sevenr_arm")
    rng = np.random.default_rng(0)
    targets = robot.fk(np.array([clear_configuration(robot, rng) for _ in range(300)]))
    task = Task([Obstacle.sphere(0.05, Transformation.from_translation([0.6, 0.3, 0.5]), id="ball")])
    here = ik.solve_batch(robot, targets, rng=5, task=task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
        )
        with cluster, distributed.Client(cluster) as client:
            there = ik.solve_batch(
                robot, targets, rng=5, task=task, executor=client.get_executor(), chunk=50, resume=tmp_path / "a.npz"
            )
    for name in ("success", "status", "iterations"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    np.testing.assert_allclose(here.q, there.q, atol=1e-12)
    assert (tmp_path / "a.npz").exists()
