// The inner products over the free variables are downdated: the products of variables that reach their bounds are
// subtracted.
#include "lbfgsb/downdate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "../support/problems.hpp"

using namespace cudaopt;

TEST_CASE("Downdating subtracts the products of each variable except those with g and z", "[downdate]") {
    cudaopt_test::Uniform uniform(1);
    for (const int pairs : {1, 2, 5, 17})
        for (int count = 0; count <= 9; count++) {
            INFO(pairs << " pairs, " << count << " variables");
            const int columns = panel::columns(pairs);
            std::vector<std::vector<double>> rows;
            std::vector<CrossedVariable> variables;
            for (int k = 0; k < count; k++) {
                rows.emplace_back();
                for (int j = 0; j < columns; j++) rows[k].push_back(2 * uniform() - 1);
                // A backend need not set these elements, so that they must not be used.
                rows[k][panel::gradient] = rows[k][panel::displacement] = std::numeric_limits<double>::quiet_NaN();
            }
            for (int k = 0; k < count; k++) variables.push_back({0, k, 0, 0, rows[k].data()});
            std::vector<double> before, after;
            for (int e = 0; e < panel::gram_count(columns); e++) before.push_back(2 * uniform() - 1);
            after = before;
            subtract_products(variables.data(), count, columns, after.data());
            for (int i = 0; i < columns; i++)
                for (int j = i; j < columns; j++) {
                    const auto is_other = [](int column) {
                        return column == panel::gradient || column == panel::displacement;
                    };
                    const int e = panel::gram_index(i, j, columns);
                    long double expected = before[e], size = std::fabs(before[e]);
                    if (!is_other(i) && !is_other(j))
                        for (const std::vector<double> &row : rows) {
                            const long double product = static_cast<long double>(row[i]) * row[j];
                            expected -= product, size += std::fabs(product);
                        }
                    CHECK(std::fabs(after[e] - expected) <= (count + 1) * 0x1p-52L * size);
                }
        }
}

TEST_CASE("The limit on downdates grows with the cost of a sweep up to the number of free variables", "[downdate]") {
    CHECK(most_downdates(1e6, 12) > most_downdates(1e5, 12));
    CHECK(most_downdates(1e6, 12) > most_downdates(1e6, 36));
    CHECK(most_downdates(600, 12) == 600);
    CHECK(most_downdates(0, 12) == 512);
}
