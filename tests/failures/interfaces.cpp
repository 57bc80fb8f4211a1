// Each allocation fails in turn in solves through the other interfaces: cuda_opt.hpp, cuda_opt_unlp.h and setulb.
#include <catch2/catch.hpp>

#include <new>

#include "cuda_opt.hpp"
#include "cuda_opt_setulb.h"
#include "cuda_opt_unlp.h"
#include "trials.hpp"

namespace failures_interfaces {

using namespace failing;

namespace {

constexpr int n = 30, m = 4;

std::string with_blocks(std::string wrong, int64_t allowed = 0) {
    if (wrong.empty() && left_over() > allowed) wrong = std::to_string(left_over()) + " blocks are not freed";
    return wrong;
}

// ---- cuda_opt.hpp

Outcome solve_in_cpp(const double *lower, const double *upper) {
    cudaopt::Minimiser<double> s(n, m, CUDA_OPT_BACKEND_HOST);
    s.set_int(CUDA_OPT_THREADS, 1).set_real(CUDA_OPT_EPS, 1e-8);
    s.set_bounds(lower, upper);
    cudaopt::Array<double> x(s, n), f(s, 1), g(s, n);
    for (int i = 0; i < n; i++) x.data()[i] = i % 2 ? 0.5 : -1.2;
    Outcome outcome;
    while ((outcome.code = s.solve(x, f, g)) == CUDA_OPT_EVALUATE_FG) *f.data() = rosenbrock(x.data(), g.data(), n);
    s.check(outcome.code);
    outcome.f = *f.data();
    outcome.hash = hash_of(x.data(), n);
    return outcome;
}

std::string cpp_body(int64_t number, Mode mode) {
    const std::vector<double> lower(n, -3), upper(n, 0.9);
    std::string wrong;
    Outcome first{-1, 0, 0};
    arm(number, mode);
    try {
        first = solve_in_cpp(lower.data(), upper.data());
    } catch (const cudaopt::Error &error) {
        calm();
        if (error.code() != CUDA_OPT_OUT_OF_MEMORY || !is_sentence(error.what()))
            wrong = std::to_string(error.code()) + ", " + error.what();
    } catch (const std::bad_alloc &) { // an allocation of the header itself, or of its exception
    }
    calm();
    const Outcome again = solve_in_cpp(lower.data(), upper.data());
    if (again.code != 0) wrong = "code " + std::to_string(again.code) + " afterwards";
    if (first.code == 0 && !(first == again)) wrong = "a different result";
    return with_blocks(wrong);
}

// ---- cuda_opt_unlp.h

double x_manual[n], f_manual, g_manual[n], hess_manual[n];

void evaluate_manual(int, double *x, double *f, double *g) { *f = rosenbrock(x, g, n); }

void evaluate_in_its_order(double *x, double *f, double *g, int) { evaluate_manual(n, x, f, g); }

enum class Form { called, by_steps, manual };

Outcome solve_manual(Form form, int *state) {
    for (int i = 0; i < n; i++) x_manual[i] = i % 2 ? 0.5 : -1.2, hess_manual[i] = 0.01;
    *state = 0;
    Outcome outcome;
    do {
        outcome.code = form == Form::manual
                           ? cuda_opt_unlp_manual_solve(n, m, evaluate_in_its_order, x_manual, &f_manual, g_manual,
                                                        hess_manual, nullptr, 1e-8, state)
                           : cuda_opt_unlp_solve(n, m, form == Form::by_steps ? nullptr : evaluate_manual, x_manual,
                                                 &f_manual, g_manual, hess_manual, nullptr, 1e-8, state);
        if (outcome.code == 1) evaluate_manual(n, x_manual, &f_manual, g_manual);
    } while (outcome.code > 0);
    outcome.f = f_manual;
    outcome.hash = hash_of(x_manual, n);
    return outcome;
}

std::string manual_body(Form form, bool diagonal, int64_t number, Mode mode) {
    int state = 0;
    cuda_opt_unlp_enable_first_Hessian(diagonal);
    cuda_opt_unlp_set_iprint(1, 3);
    arm(number, mode);
    const Outcome outcome = solve_manual(form, &state);
    const bool sentence = is_sentence(cuda_opt_unlp_message());
    calm();
    const Outcome wanted = solve_manual(form, &state);
    if (!(outcome == wanted) && outcome.code != CUDA_OPT_OUT_OF_MEMORY) return "code " + std::to_string(outcome.code);
    if (!sentence) return "the message is not a sentence";
    if (wanted.code != 0) return "code " + std::to_string(wanted.code) + " afterwards: " + cuda_opt_unlp_message();
    // Two blocks are allowed, because they are freed only at the end of the process: the buffer of the standard output
    // and the thread's list of destructors.
    return with_blocks("", 2);
}

// ---- setulb

struct Setulb {
    int pairs = m, size = n, iprint = -1, nbd[n], iwa[3 * n], lsave[4], isave[44];
    double x[n], l[n], u[n], f = 0, g[n], factr = 0, pgtol = 1e-8, dsave[29];
    double wa[2 * m * n + 5 * n + 11 * m * m + 8 * m];
    char task[60], csave[60];

    void start() {
        for (int i = 0; i < n; i++) x[i] = i % 2 ? 0.5 : -1.2, l[i] = -3, u[i] = 0.9, nbd[i] = 2;
        std::memset(task, ' ', sizeof task);
        std::memcpy(task, "START", 5);
    }
    bool says(const char *start) const { return std::strncmp(task, start, std::strlen(start)) == 0; }
    bool step() {
        setulb_(&size, &pairs, x, l, u, nbd, &f, g, &factr, &pgtol, wa, iwa, task, &iprint, csave, lsave, isave, dsave,
                sizeof task, sizeof csave);
        if (says("FG")) f = rosenbrock(x, g, n);
        return says("FG") || says("NEW_X");
    }
    Outcome solve() {
        start();
        while (step()) {
        }
        return {says("CONVERGENCE") ? 0 : -1, f, hash_of(x, n)};
    }
};

std::string setulb_body(int iprint, int64_t number, Mode mode) {
    setenv("CUDA_OPT_BACKEND", "host", 1);
    static Setulb first, second; // static, so that the test itself allocates no memory
    first.iprint = second.iprint = iprint;
    second.start();
    arm(number, mode);
    for (int k = 0; k < 4; k++) second.step(); // this solve is interrupted while the other one runs
    const Outcome outcome = first.solve();
    const bool out_of_memory = first.says("ERROR: OUT OF MEMORY                         ");
    calm();
    if (outcome.code != 0 && !out_of_memory) return std::string(first.task, 60);
    const Outcome again = first.solve(), wanted = second.solve();
    if (wanted.code != 0) return "afterwards: " + std::string(second.task, 60);
    if (!(again == wanted)) return "a different result afterwards";
    if (outcome.code == 0 && outcome.hash != wanted.hash) return "a different result";
    cuda_opt_setulb_release(nullptr);
    return with_blocks("", 2); // the table of problems and the buffer of the standard output are not freed
}

} // namespace

TEST_CASE("The C++ interface throws or tolerates each failed allocation and solves afterwards", "[failures]") {
    CHECK(each_in_turn(cpp_body) == "");
}

TEST_CASE("cuda_opt_unlp reports or tolerates each failed allocation and solves afterwards", "[failures]") {
    const Form form = GENERATE(Form::called, Form::by_steps, Form::manual);
    const bool diagonal = GENERATE(false, true);
    INFO("form: " << static_cast<int>(form) << ", diagonal: " << diagonal);
    const std::string wrong =
        each_in_turn([&](int64_t number, Mode mode) { return manual_body(form, diagonal, number, mode); });
    CHECK(wrong == "");
}

TEST_CASE("setulb reports or tolerates each failed allocation and solves afterwards", "[failures]") {
    const int iprint = GENERATE(-1, 101);
    INFO("iprint " << iprint);
    const std::string wrong =
        each_in_turn([&](int64_t number, Mode mode) { return setulb_body(iprint, number, mode); });
    CHECK(wrong == "");
}

} // namespace failures_interfaces
