// The problems with few observations from NIST's Statistical Reference Datasets for nonlinear regression. f is the sum
// of the squares of y - model(x; b). Each problem is solved from both of NIST's starts. The suite also compares f at
// NIST's certified b with the certified sum.
#include "nist.hpp"

#include "more_garbow_hillstrom.hpp"
#include "sets.hpp"

namespace cudaopt_problems {

namespace {

const double pi = std::acos(-1.0);

struct Observations {
    Vector x, y;
};

template <class Model>
Regression regression(const std::string &name, const Observations &data, Vector first, Vector second, Vector certified,
                      double certified_sum, Model model) {
    Problem problem = make("nist-" + name, "NIST StRD, nonlinear regression, " + name, std::move(first),
                           [data, model](const auto &b) {
                               ScalarOf<decltype(b)> f = 0;
                               for (std::size_t k = 0; k < data.x.size(); k++)
                                   f += square(data.y[k] - model(data.x[k], b));
                               return f;
                           });
    return {problem, std::move(second), std::move(certified), certified_sum};
}

// These regressions are also functions of Moré, Garbow and Hillstrom, whose start is NIST's second start.
Regression from_the_collection(const std::string &name, Problem problem, Vector first, Vector certified,
                               double certified_sum) {
    const Vector second = problem.start;
    problem.name = "nist-" + name;
    problem.source = "NIST StRD, nonlinear regression, " + name;
    problem.minima.clear();
    return {problem.from(std::move(first)), second, std::move(certified), certified_sum};
}

// The sum of three exponentials (Lanczos 1956), rounded to a unit that may depend on y.
template <class Unit> Observations lanczos(const Unit &unit) {
    Observations data;
    for (int k = 0; k < 24; k++) {
        const double x = k / 20.0;
        const double y = 0.0951 * std::exp(-x) + 0.8607 * std::exp(-3 * x) + 1.5576 * std::exp(-5 * x);
        data.x.push_back(x);
        data.y.push_back(std::round(y * unit(y)) / unit(y));
    }
    return data;
}
double four_places(double) { return 1e4; }
double six_digits(double y) { return y >= 1 ? 1e5 : y >= 0.1 ? 1e6 : 1e7; }

const auto three_exponentials = [](double x, const auto &b) {
    return b[0] * exp(-b[1] * x) + b[2] * exp(-b[3] * x) + b[4] * exp(-b[5] * x);
};

std::vector<Regression> of_growth() {
    const Observations dental = {
        {77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0},
        {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47,
         81.78}}; // monomolecular adsorption
    return {
        regression("misra1a", dental, {500, 1e-4}, {250, 5e-4}, {238.94212918, 0.00055015643181}, 0.12455138894,
                   [](double x, const auto &b) { return b[0] * (1 - exp(-b[1] * x)); }),
        regression("misra1b", dental, {500, 1e-4}, {300, 2e-4}, {337.99746163, 0.00039039091287}, 0.075464681533,
                   [](double x, const auto &b) { return b[0] * (1 - 1 / square(1 + b[1] * x / 2)); }),
        regression("misra1c", dental, {500, 1e-4}, {600, 2e-4}, {636.42725809, 0.00020813627256}, 0.040966836971,
                   [](double x, const auto &b) { return b[0] * (1 - 1 / sqrt(1 + 2 * b[1] * x)); }),
        regression("misra1d", dental, {500, 1e-4}, {450, 3e-4}, {437.36970754, 0.00030227324449}, 0.056419295283,
                   [](double x, const auto &b) { return b[0] * b[1] * x / (1 + b[1] * x); }),
        regression("boxbod", Observations{{1, 2, 3, 5, 7, 10}, {109, 149, 149, 191, 213, 224}}, {1, 1}, {100, 0.75},
                   {213.80940889, 0.54723748542}, 1168.0088766,
                   [](double x, const auto &b) { return b[0] * (1 - exp(-b[1] * x)); }),
        regression("rat42",
                   Observations{{9, 14, 21, 28, 42, 57, 63, 70, 79},
                                {8.93, 10.8, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08}},
                   {100, 1, 0.1}, {75, 2.5, 0.07}, {72.462237576, 2.6180768402, 0.067359200066}, 8.0565229338,
                   [](double x, const auto &b) { return b[0] / (1 + exp(b[1] - b[2] * x)); }),
        regression("rat43",
                   Observations{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                {16.08, 33.83, 65.8, 97.2, 191.55, 326.2, 386.87, 520.53, 590.03, 651.92, 724.93,
                                 699.56, 689.96, 637.56, 717.41}},
                   {100, 10, 1, 1}, {700, 5, 0.75, 1.3}, {699.6415127, 5.2771253025, 0.75962938329, 1.2792483859},
                   8786.404908, [](double x, const auto &b) { return b[0] / pow(1 + exp(b[1] - b[2] * x), 1 / b[3]); }),
    };
}

std::vector<Regression> of_physics() {
    return {
        regression("danwood",
                   Observations{{1.309, 1.471, 1.49, 1.565, 1.611, 1.68}, {2.138, 3.421, 3.597, 4.34, 4.882, 5.66}},
                   {1, 5}, {0.7, 4}, {0.76886226176, 3.8604055871}, 0.0043173084083,
                   [](double x, const auto &b) { return b[0] * exp(std::log(x) * b[1]); }),
        regression("chwirut2",
                   Observations{{0.5,  1.0,  1.75, 3.75, 5.75, 0.875, 2.25, 3.25, 5.25, 0.75, 1.75, 2.75, 4.75, 0.625,
                                 1.25, 2.25, 4.25, 0.5,  3.0,  0.75,  3.0,  1.5,  6.0,  3.0,  6.0,  1.5,  3.0,  0.5,
                                 2.0,  4.0,  0.75, 2.0,  5.0,  0.75,  2.25, 3.75, 5.75, 3.0,  0.75, 2.5,  4.0,  0.75,
                                 2.5,  4.0,  0.75, 2.5,  4.0,  0.5,   6.0,  3.0,  0.5,  2.75, 0.5,  1.75},
                                {92.9,    57.1,  31.05, 11.5875, 8.025, 63.6,  21.4, 14.25, 8.475, 63.8,  26.8,
                                 16.4625, 7.125, 67.3,  41.0,    21.15, 8.175, 81.5, 13.12, 59.9,  14.62, 32.9,
                                 5.44,    12.56, 5.44,  32.0,    13.95, 75.8,  20.0, 10.42, 59.5,  21.67, 8.55,
                                 62.0,    20.2,  7.76,  3.75,    11.81, 54.7,  23.7, 11.55, 61.3,  17.7,  8.74,
                                 59.2,    16.3,  8.62,  81.0,    4.87,  14.62, 81.7, 17.17, 81.3,  28.9}},
                   {0.1, 0.01, 0.02}, {0.15, 0.008, 0.010}, {0.16657666537, 0.0051653291286, 0.012150007096},
                   513.04802941, [](double x, const auto &b) { return exp(-b[0] * x) / (b[1] + b[2] * x); }),
        regression("eckerle4",
                   Observations{{400,   405,   410,   415,   420,   425,   430,   435,   436.5, 438.0, 439.5, 441.0,
                                 442.5, 444.0, 445.5, 447.0, 448.5, 450.0, 451.5, 453.0, 454.5, 456.0, 457.5, 459.0,
                                 460.5, 462.0, 463.5, 465.0, 470,   475,   480,   485,   490,   495,   500},
                                {0.0001575, 0.0001699, 0.000235,  0.0003102, 0.0004917, 0.000871,  0.0017418,
                                 0.00464,   0.0065895, 0.0097302, 0.0149002, 0.023731,  0.0401683, 0.0712559,
                                 0.1264458, 0.2073413, 0.2902366, 0.3445623, 0.3698049, 0.3668534, 0.3106727,
                                 0.2078154, 0.1164354, 0.0616764, 0.03372,   0.0194023, 0.0117831, 0.0074357,
                                 0.0022732, 0.00088,   0.0004579, 0.0002345, 0.0001586, 0.0001143, 7.1e-05}},
                   {1, 10, 500}, {1.5, 5, 450}, {1.5543827178, 4.0888321754, 451.54121844}, 0.0014635887487,
                   [](double x, const auto &b) { return b[0] / b[1] * exp(-square((x - b[2]) / b[1]) / 2); }),
        regression(
            "roszman1",
            Observations{{-4868.68, -4868.09, -4867.41, -3375.19, -3373.14, -3372.03, -2473.74, -2472.35, -2469.45,
                          -1894.65, -1893.4,  -1497.24, -1495.85, -1493.41, -1208.68, -1206.18, -1206.04, -997.92,
                          -996.61,  -996.31,  -834.94,  -834.66,  -710.03,  -530.16,  -464.17},
                         {0.252429, 0.252141, 0.251809, 0.297989, 0.296257, 0.295319, 0.339603, 0.337731, 0.33382,
                          0.38951,  0.386998, 0.438864, 0.434887, 0.427893, 0.471568, 0.461699, 0.461144, 0.513532,
                          0.506641, 0.505062, 0.535648, 0.533726, 0.568064, 0.612886, 0.624169}},
            {0.1, -1e-5, 1000, -100}, {0.2, -5e-6, 1200, -150},
            {0.20196866396, -6.1953516256e-06, 1204.4556708, -181.34269537}, 0.00049484847331,
            [](double x, const auto &b) { return b[0] - b[1] * x - atan(b[2] / (x - b[3])) / pi; }),
        regression("thurber",
                   Observations{{-3.067, -2.981, -2.921, -2.912, -2.84,  -2.797, -2.702, -2.699, -2.633, -2.481,
                                 -2.363, -2.322, -1.501, -1.46,  -1.274, -1.212, -1.1,   -1.046, -0.915, -0.714,
                                 -0.566, -0.545, -0.4,   -0.309, -0.109, -0.103, 0.01,   0.119,  0.377,  0.79,
                                 0.963,  1.006,  1.115,  1.572,  1.841,  2.047,  2.2},
                                {80.574,   84.248,   87.264,   87.195,   89.076,   89.608,   89.868,   90.101,
                                 92.405,   95.854,   100.696,  101.06,   401.672,  390.724,  567.534,  635.316,
                                 733.054,  759.087,  894.206,  990.785,  1090.109, 1080.914, 1122.643, 1178.351,
                                 1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384,
                                 1442.962, 1464.35,  1468.705, 1447.894, 1457.628}},
                   {1000, 1000, 400, 40, 0.7, 0.3, 0.03}, {1300, 1500, 500, 75, 1, 0.4, 0.05},
                   {1288.13968, 1491.0792535, 583.23836877, 75.416644291, 0.96629502864, 0.39797285797, 0.049727297349},
                   5642.7082397,
                   [](double x, const auto &b) {
                       return (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) / (1 + x * (b[4] + x * (b[5] + x * b[6])));
                   }),
        regression("lanczos2", lanczos(six_digits), {1.2, 0.3, 5.6, 5.5, 6.5, 7.6}, {0.5, 0.7, 3.6, 4.2, 4, 6.3},
                   {0.096251029939, 1.0057332849, 0.86424689056, 3.0078283915, 1.5529016879, 5.00287981},
                   2.2299428125e-11, three_exponentials),
        regression("lanczos3", lanczos(four_places), {1.2, 0.3, 5.6, 5.5, 6.5, 7.6}, {0.5, 0.7, 3.6, 4.2, 4, 6.3},
                   {0.086816414977, 0.95498101505, 0.84400777463, 2.9515951832, 1.5825685901, 4.9863565084},
                   1.6117193594e-08, three_exponentials),
    };
}

} // namespace

std::vector<Regression> regressions() {
    std::vector<Regression> all = of_growth();
    for (Regression &regression : of_physics()) all.push_back(std::move(regression));
    all.push_back(from_the_collection("mgh09", kowalik_osborne(), {25, 39, 41.5, 39},
                                      {0.19280693458, 0.19128232873, 0.12305650693, 0.13606233068}, 0.00030750560385));
    all.push_back(from_the_collection("mgh10", meyer(), {2, 400000, 25000},
                                      {0.005609636471, 6181.3463463, 345.22363462}, 87.945855171));
    all.push_back(from_the_collection("mgh17", osborne_1(), {50, 150, -100, 1, 2},
                                      {0.37541005211, 1.9358469127, -1.4646871366, 0.01286753464, 0.022122699662},
                                      5.4648946975e-05));
    return all;
}

Problems nist_regressions() {
    Problems all;
    for (const Regression &regression : regressions()) {
        // The functions of Moré, Garbow and Hillstrom are solved from the second start in that collection.
        const bool collected = regression.problem.name.find("mgh") != std::string::npos;
        all.push_back(regression.problem);
        if (collected) continue;
        Problem second = regression.problem;
        second.from(regression.second_start).named("-start2");
        all.push_back(second.minimum(regression.certified_sum, 1e-5 * std::max(1.0, regression.certified_sum)));
        // In the box, rates and amounts are not negative, and the first parameter is smaller than that of the best fit.
        Vector lower, upper(second.start.size(), INFINITY);
        for (const double parameter : regression.certified) lower.push_back(parameter > 0 ? 0 : -INFINITY);
        upper[0] = 0.95 * regression.certified[0];
        Problem bounded = second;
        bounded.minima.clear();
        all.push_back(bounded.box(lower, upper).named("-box"));
    }
    return all;
}

} // namespace cudaopt_problems
