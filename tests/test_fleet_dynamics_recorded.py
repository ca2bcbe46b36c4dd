"""Inverse dynamics of fleets against the recorded cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knuckle import eval_inverse_dynamics_force, eval_inverse_dynamics_passive, eval_mass_matrix

from .newton_cases import arrays, cases, fleet

CASES = cases("eval_inverse_dynamics_force")


def relative(actual: Any, expected: Any) -> float:
    return float(np.abs(actual - expected).max() / max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_terms_and_their_sum(case: dict[str, Any]) -> None:
    robots, data = fleet(case), arrays(case)
    mask = case.get("mask")
    for i, q in enumerate(data["joint_q"]):
        M = eval_mass_matrix(robots, q, mask=mask)
        g, h = eval_inverse_dynamics_passive(robots, q, data["joint_qd"][i], mask=mask)
        dofs = np.repeat(mask if mask is not None else [True] * len(robots), np.diff(robots.qd_offsets))
        assert relative(g, np.where(dofs, data["gravity_force"][i], 0)) < 1e-5
        assert relative(h, np.where(dofs, data["coriolis_force"][i], 0)) < 2e-5
        assert (
            relative(
                M,
                data["mass_matrix"][i]
                if mask is None
                else np.where(np.array(mask)[:, None, None], data["mass_matrix"][i], 0),
            )
            < 1e-5
        )
        out = np.full(robots.joint_dof_count, 7.0)
        terms = {"mass_matrix": M, "joint_qdd": data["joint_qdd"][i], "coriolis_force": h, "gravity_force": g}
        eval_inverse_dynamics_force(robots, q, **terms, joint_f=out, mask=mask)
        print(case["id"], relative(out, data["joint_f_ref64"][i]), relative(out, data["joint_f"][i]))
        assert relative(out, data["joint_f"][i]) < 2e-5
        assert relative(out, data["joint_f_ref64"][i]) < 1e-9
