"""The test of a source file is found by its name: tests/<room>/test_<name>.py, or the file that this table names."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES, TESTS = ROOT / "src" / "multibody", ROOT / "tests"
ROOMS = ("geometry", "tracing", "model", "algorithms", "textbook", "compiler", "robot")

ELSEWHERE = {
    # axioms, laws of values, and the documents' own examples
    "geometry/derivatives.py": "sources/test_kindr.py",
    "geometry/euler.py": "laws/test_conversions.py",
    "geometry/exponential_coefficients.py": "laws/test_near_singular.py",
    "geometry/groups/group.py": "laws/test_group_axioms.py",
    "geometry/groups/helical.py": "laws/test_group_axioms.py",
    "geometry/groups/schoenflies.py": "laws/test_group_axioms.py",
    "geometry/groups/special_euclidean.py": "laws/test_group_axioms.py",
    "geometry/groups/special_orthogonal.py": "laws/test_group_axioms.py",
    "geometry/groups/translations.py": "laws/test_group_axioms.py",
    "geometry/inertia.py": "laws/test_spatial.py",
    "geometry/operators.py": "laws/test_spatial.py",
    "geometry/orientation_parameters.py": "laws/test_rates.py",
    "geometry/points.py": "sources/test_robot_dynamics_transformations_and_points.py",
    "geometry/pose.py": "laws/test_spatial.py",
    "geometry/position_parameters.py": "laws/test_rates.py",
    "geometry/public_api.py": "geometry/test_traceable.py",
    "geometry/quaternions.py": "laws/test_conversions.py",
    "geometry/rates.py": "laws/test_rates.py",
    "geometry/representations.py": "laws/test_spatial.py",
    "geometry/rotation.py": "laws/test_conversions.py",
    "geometry/so3.py": "laws/test_near_singular.py",
    "geometry/spatial_vector.py": "laws/test_spatial.py",
    "geometry/twist.py": "laws/test_spatial.py",
    "geometry/wrench.py": "laws/test_spatial.py",
    # one stage at a time has no results of its own: derivatives, values and errors show whether it is right
    "tracing/ad/checkpoints.py": "tracing/test_loop_derivatives.py",
    "tracing/ad/dependence.py": "tracing/test_traces.py",
    "tracing/ad/forward.py": "tracing/test_traces.py",
    "tracing/ad/jacobian.py": "tracing/test_traces.py",
    "tracing/ad/memory_limit.py": "tracing/test_loop_derivatives.py",
    "tracing/ad/partials.py": "tracing/test_traces.py",
    "tracing/ad/reverse.py": "tracing/test_traces.py",
    "tracing/ad/tangents.py": "tracing/test_loop_derivatives.py",
    "tracing/array/array_methods.py": "tracing/test_numpy_functions.py",
    "tracing/array/composed_ufuncs.py": "tracing/test_numpy_functions.py",
    "tracing/array/lookup.py": "tracing/test_numpy_functions.py",
    "tracing/array/reductions.py": "tracing/test_numpy_functions.py",
    "tracing/array/sorting.py": "tracing/test_numpy_functions.py",
    "tracing/emission.py": "compiler/test_to_c.py",
    "tracing/graph/loop_nodes.py": "tracing/test_loops_that_stop.py",
    "tracing/graph/ops.py": "tracing/test_graph.py",
    "tracing/graph/simplify.py": "tracing/test_graph.py",
    "tracing/graph/substitute.py": "tracing/test_loop.py",
    "tracing/interpret.py": "tracing/test_numpy_functions.py",
    "tracing/matrices/kinds.py": "tracing/test_dense.py",
    "tracing/matrices/linalg_unrolled.py": "tracing/test_linalg.py",
    "tracing/matrices/matrix_derivatives.py": "tracing/test_dense.py",
    "tracing/matrices/reference.py": "tracing/test_dense.py",
    "tracing/record/explanations.py": "tracing/test_trace.py",
    "tracing/record/layout.py": "tracing/test_arguments.py",
    "tracing/record/naming.py": "compiler/test_launch.py",
    # joints by the laws that run over all kinds, loaders by files
    "model/actuator.py": "model/test_actuation.py",
    "model/composite_inertia.py": "model/test_parameters.py",
    "model/joint.py": "model/test_model.py",
    "model/joints/_axes.py": "model/test_joints.py",
    "model/joints/_kind.py": "model/test_contract.py",
    "model/joints/_screw.py": "model/test_joints.py",
    "model/joints/_turning_plane.py": "model/test_joints.py",
    "model/joints/continuous.py": "model/test_joints.py",
    "model/joints/cylindrical.py": "model/test_joints.py",
    "model/joints/fixed.py": "model/test_joints.py",
    "model/joints/floating.py": "model/test_joints.py",
    "model/joints/helical.py": "model/test_joints.py",
    "model/joints/planar.py": "model/test_joints.py",
    "model/joints/prismatic.py": "model/test_joints.py",
    "model/joints/revolute.py": "model/test_joints.py",
    "model/joints/schoenflies.py": "model/test_joints.py",
    "model/joints/spherical.py": "model/test_joints.py",
    "model/joints/translational.py": "model/test_joints.py",
    "model/joints/universal.py": "model/test_joints.py",
    "model/layouts/_joint_maps.py": "oracles/test_layouts.py",
    "model/layouts/_layout.py": "oracles/test_layouts.py",
    "model/layouts/mujoco.py": "oracles/test_layouts.py",
    "model/layouts/pinocchio.py": "oracles/test_layouts.py",
    "model/link.py": "model/test_model.py",
    "model/load.py": "model/test_urdf.py",
    "model/loaders/mjcf_actuators.py": "model/test_mjcf.py",
    "model/loaders/mjcf_assets.py": "model/test_mjcf_bad.py",
    "model/loaders/mjcf_bodies.py": "model/test_mjcf.py",
    "model/loaders/mjcf_diagnostics.py": "model/test_mjcf_bad.py",
    "model/loaders/mjcf_includes.py": "model/test_mjcf_bad.py",
    "model/loaders/mjcf_names.py": "oracles/test_mjcf_mujoco.py",
    "model/loaders/mjcf_poses.py": "oracles/test_mjcf_mujoco.py",
    "model/loaders/mjcf_shapes.py": "model/test_mjcf.py",
    "model/loaders/sdf_frames.py": "model/test_sdf.py",
    "model/loaders/sdf_joint.py": "model/test_sdf.py",
    "model/loaders/sdf_shapes.py": "model/test_sdf.py",
    "model/loaders/snap.py": "model/test_urdf.py",
    "model/loaders/source.py": "model/test_bad_urdf.py",
    "model/loaders/urdf_inertia.py": "model/test_diagnostics.py",
    "model/loaders/urdf_joint.py": "model/test_urdf.py",
    "model/loaders/urdf_origin.py": "model/test_urdf.py",
    "model/loaders/urdf_shapes.py": "model/test_urdf.py",
    "model/loaders/tree_diagnostics.py": "model/test_bad_urdf.py",
    "model/loaders/xml.py": "model/test_bad_urdf.py",
    "model/mimic.py": "model/test_build_tree.py",
    "model/robot_limits.py": "robot/test_names.py",
    "model/robots/_construction.py": "model/test_robots.py",
    "model/robots/branching_figure.py": "model/test_robots.py",
    "model/robots/cart_pendulum.py": "model/test_robots.py",
    "model/robots/double_pendulum.py": "model/test_robots.py",
    "model/robots/free_body.py": "model/test_robots.py",
    "model/robots/humanoid.py": "model/test_robots_machines.py",
    "model/robots/panda.py": "model/test_robots_machines.py",
    "model/robots/planar_arm.py": "model/test_robots.py",
    "model/robots/puma_560.py": "model/test_robots_machines.py",
    "model/robots/quadrotor.py": "model/test_robots_machines.py",
    "model/robots/quadruped.py": "model/test_robots_machines.py",
    "model/robots/scara.py": "model/test_robots.py",
    "model/robots/zyx_wrist.py": "model/test_robots.py",
    "model/surgery/_shared.py": "model/test_attach.py",
    "model/surgery/change.py": "model/test_attach.py",
    "model/surgery/payload.py": "model/test_attach.py",
    "model/surgery/remove.py": "model/test_lock.py",
    "model/surgery/rename.py": "model/test_attach.py",
    # algorithms by laws over random robots, and beside Pinocchio and MuJoCo
    "algorithms/aba.py": "laws/test_random_trees.py",
    "algorithms/baumgarte.py": "algorithms/test_constraints.py",
    "algorithms/change_of_velocity.py": "algorithms/test_base_representation.py",
    "algorithms/columns.py": "oracles/test_dynamics_pinocchio.py",
    "algorithms/constraint_projection.py": "algorithms/test_constraints.py",
    "algorithms/constraints/anchors.py": "algorithms/test_constraint_kinds.py",
    "algorithms/constraints/closures.py": "algorithms/test_constraint_kinds.py",
    "algorithms/constraints/constraint.py": "algorithms/test_constraints.py",
    "algorithms/constraints/constraint_set.py": "algorithms/test_constraints.py",
    "algorithms/constraints/contacts.py": "algorithms/test_constraint_kinds.py",
    "algorithms/constraints/rolling.py": "algorithms/test_constraint_kinds.py",
    "algorithms/constraints/stated.py": "oracles/test_equalities_mujoco.py",
    "algorithms/coriolis.py": "laws/test_random_trees.py",
    "algorithms/crba.py": "laws/test_random_trees.py",
    "algorithms/energy.py": "laws/test_random_trees.py",
    "algorithms/mass_matrix_factorization.py": "laws/test_random_trees.py",
    "algorithms/forward_dynamics.py": "laws/test_random_trees.py",
    "algorithms/forward_dynamics_derivatives.py": "algorithms/test_rnea_derivatives.py",
    "algorithms/friction.py": "textbook/test_percussion.py",
    "algorithms/hessian.py": "algorithms/test_jacobian.py",
    "algorithms/impact.py": "algorithms/test_constraints.py",
    "algorithms/manipulability.py": "algorithms/test_jacobian.py",
    "algorithms/mass_moments.py": "laws/test_random_trees.py",
    "algorithms/maximal_coordinates/forces.py": "oracles/test_maximal_mujoco.py",
    "algorithms/pivots.py": "algorithms/test_least_norm.py",
    "algorithms/regressor.py": "identification/test_identification.py",
    "algorithms/velocity_blocks.py": "algorithms/test_base_representation.py",
    "algorithms/velocity_moments.py": "laws/test_random_trees.py",
    "textbook/projected_newton_euler.py": "sources/test_robot_dynamics_dynamics.py",
    # code generation by what kernels compute
    "compiler/codegen/builder.py": "compiler/test_kernel.py",
    "compiler/codegen/matrices/factorizations.py": "compiler/test_operations.py",
    "compiler/codegen/matrices/loop_nest.py": "compiler/test_operations.py",
    "compiler/codegen/matrices/lu.py": "compiler/test_operations.py",
    "compiler/codegen/module.py": "compiler/test_kernel.py",
    "compiler/codegen/prefetch.py": "compiler/test_variants.py",
    "compiler/codegen/scan_modules.py": "compiler/test_scan.py",
    "compiler/codegen/transpose.py": "compiler/test_kernel.py",
    "compiler/codegen/vector_math/coefficients.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/cold_paths.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/exponentials.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/function.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/hyperbolics.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/inverse_trigonometry.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/powers.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/remainders.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/trigonometry.py": "compiler/test_vector_math.py",
    "compiler/codegen/vector_math/vectors.py": "compiler/test_vector_math.py",
    "compiler/export/to_numpy.py": "compiler/test_to_c.py",
    "compiler/export/to_sympy.py": "compiler/test_to_c.py",
    "compiler/ir/formats.py": "compiler/test_vector_math.py",
    "compiler/ir/liveness.py": "compiler/test_kernel_life.py",
    "compiler/ir/loop_steps.py": "tracing/test_loops_that_stop.py",
    "compiler/ir/mask_finished_samples.py": "tracing/test_loops_that_stop.py",
    "compiler/ir/matrix_storage.py": "compiler/test_operations.py",
    "compiler/ir/passes.py": "compiler/test_kernel.py",
    "compiler/ir/scan_layout.py": "compiler/test_scan.py",
    "compiler/ir/program.py": "compiler/test_kernel_life.py",
    "compiler/ir/segments.py": "compiler/test_kernel_life.py",
    "compiler/ir/tiling.py": "compiler/test_kernel.py",
    "compiler/optional_inputs.py": "compiler/test_call_mode.py",
    "compiler/runtime/code.py": "compiler/test_processes.py",
    "compiler/runtime/fastcall.py": "compiler/test_launch.py",
    "compiler/runtime/once.py": "compiler/test_code_cache.py",
    "compiler/runtime/scan_pieces.py": "compiler/test_scan.py",
    "compiler/runtime/signature.py": "compiler/test_launch.py",
    "compiler/runtime/workers.py": "compiler/test_kernel.py",
    "robot/inputs.py": "robot/test_function.py",
    "robot/kernels.py": "robot/test_evaluate.py",
    "robot/quantities.py": "robot/test_traced_methods.py",
    "robot/quantity.py": "robot/test_evaluate.py",
}
"""Sources without a test of their name, and the file that tests them."""


def sources() -> list[str]:
    """Source files of the rooms, relative to the package, without those that only import or describe."""
    files = (file for room in ROOMS for file in sorted((SOURCES / room).rglob("*.py")) if file.name != "__init__.py")
    return [file.relative_to(SOURCES).as_posix() for file in files]


def test_of(source: str) -> Path:
    return TESTS / source.partition("/")[0] / f"test_{Path(source).stem.strip('_')}.py"


test_of.__test__ = False


@pytest.mark.parametrize("room", ROOMS)
def test_each_source_has_a_test(room):
    own = [source for source in sources() if source.startswith(f"{room}/")]
    assert own
    assert [source for source in own if not test_of(source).exists() and source not in ELSEWHERE] == []


def test_the_table_has_no_stale_lines():
    known = set(sources())
    assert [source for source in ELSEWHERE if source not in known] == []
    assert [source for source in ELSEWHERE if test_of(source).exists()] == []
    assert [test for test in ELSEWHERE.values() if not (TESTS / test).exists()] == []
