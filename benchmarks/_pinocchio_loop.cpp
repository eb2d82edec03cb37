// Pinocchio in a C++ loop: _pinocchio_loop FILE SECONDS, started by _pinocchio_cpp.py, which writes the file.
// FILE holds doubles: the numbers of joints and states, the joints, the frame, then q, v, a of each state.
// Prints `quantity nanoseconds check`.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

using Clock = std::chrono::steady_clock;
using Vector = Eigen::Ref<const Eigen::VectorXd>;  // for which the library has its functions compiled

template <typename Function>
void measure(const char *name, int count, double budget, Function function)
{
    const double check = function(0);
    double least = std::numeric_limits<double>::infinity();
    const auto start = Clock::now();
    do {
        const auto before = Clock::now();
        for (int i = 0; i < count; ++i)
            function(i);
        least = std::min(least, std::chrono::duration<double>(Clock::now() - before).count() / count);
    } while (std::chrono::duration<double>(Clock::now() - start).count() < budget);
    std::printf("%s %.3f %.15g\n", name, least * 1e9, check);
}

pinocchio::JointModel joint_of(int kind)
{
    switch (kind) {
    case 0: return pinocchio::JointModelFreeFlyer();
    case 1: return pinocchio::JointModelRX();
    case 2: return pinocchio::JointModelRY();
    case 3: return pinocchio::JointModelRZ();
    case 4: return pinocchio::JointModelPX();
    case 5: return pinocchio::JointModelPY();
    case 6: return pinocchio::JointModelPZ();
    default: std::exit(3);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    std::ifstream file(argv[1], std::ios::binary);
    const auto read = [&file](Eigen::Index n) {
        Eigen::VectorXd x(n);
        file.read(reinterpret_cast<char *>(x.data()), n * sizeof(double));
        return x;
    };
    const auto pose = [&read]() {
        const Eigen::VectorXd x = read(12);
        return pinocchio::SE3(Eigen::Map<const Eigen::Matrix3d>(x.data()).transpose(), x.tail<3>());
    };
    const Eigen::VectorXd sizes = read(2);
    pinocchio::Model model;
    for (int i = 0; i < int(sizes[0]); ++i) {
        const Eigen::VectorXd head = read(2);  // kind, parent
        const pinocchio::SE3 placement = pose();
        const Eigen::VectorXd mass = read(10);
        const auto index = model.addJoint(int(head[1]), joint_of(int(head[0])), placement, "joint" + std::to_string(i));
        model.appendBodyToJoint(index, pinocchio::Inertia::FromDynamicParameters(mass), pinocchio::SE3::Identity());
    }
    const Eigen::VectorXd on = read(1);
    const pinocchio::Frame end("end", int(on[0]), 0, pose(), pinocchio::OP_FRAME);
    const auto frame = model.addFrame(end, false);
    pinocchio::Data data(model);

    const int count = int(sizes[1]);
    std::vector<Eigen::VectorXd> q, v, a;
    for (int i = 0; i < count; ++i) {
        q.push_back(read(model.nq));
        v.push_back(read(model.nv));
        a.push_back(read(model.nv));
    }
    const double budget = std::atof(argv[2]);
    pinocchio::Data::Matrix6x J = pinocchio::Data::Matrix6x::Zero(6, model.nv);
    Eigen::Ref<pinocchio::Data::Matrix6x> ref(J);

    measure("inverse_dynamics", count, budget, [&](int i) { return pinocchio::rnea(model, data, Vector(q[i]), Vector(v[i]), Vector(a[i]))[0]; });
    measure("forward_dynamics", count, budget, [&](int i) { return pinocchio::aba(model, data, Vector(q[i]), Vector(v[i]), Vector(a[i]))[0]; });
    measure("mass_matrix", count, budget, [&](int i) { return pinocchio::crba(model, data, Vector(q[i]))(0, 0); });
    measure("jacobian", count, budget, [&](int i) {
        pinocchio::computeFrameJacobian(model, data, Vector(q[i]), frame, pinocchio::LOCAL_WORLD_ALIGNED, ref);
        return J(0, model.nv - 1);
    });
    measure("pose", count, budget, [&](int i) {
        pinocchio::forwardKinematics(model, data, Vector(q[i]));
        return pinocchio::updateFramePlacement(model, data, frame).translation()[0];
    });
    measure("inverse_dynamics_derivatives", count, budget, [&](int i) {
        pinocchio::computeRNEADerivatives(model, data, Vector(q[i]), Vector(v[i]), Vector(a[i]));
        return data.dtau_dq(0, model.nv - 1);
    });
}
