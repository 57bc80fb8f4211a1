// Solves a batch with a functor on the host. The project has its own header dense/array.hpp on its include path. The
// headers of the library must include the library's header of that name, and the project its own.
#include <cuda_opt/batch.cuh>
#include <dense/array.hpp>

#include <cmath>
#include <cstdio>

struct Distance { // |x - (1, 2, 3)|^2 / 2
    template <class Team> double operator()(const Team &team, int64_t, const double *x, double *g) const {
        double mine = 0;
        for (int i = team.lane(); i < 3; i += Team::width) {
            g[i] = x[i] - (i + 1);
            mine += g[i] * g[i] / 2;
        }
        return team.sum(mine);
    }
};

int main() {
    OwnArray x{{0, 0, 0}};
    cudaopt::BatchEnd end{};
    cudaopt::HostBatch<3, 5>().run(Distance(), 1, x.values, {}, &end);
    std::printf("code %d, x = (%g, %g, %g)\n", end.code, x.values[0], x.values[1], x.values[2]);
    bool solved = end.code == 0;
    for (int i = 0; i < 3; i++) solved = solved && std::fabs(x.values[i] - (i + 1)) < 1e-4;
    return solved ? 0 : 1;
}
