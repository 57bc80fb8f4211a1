// Functions that the programs of the tables share: invalid arguments are rejected in one line, and rows are written at
// once.
#pragma once

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <cstdint>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudaopt::bench {

// Whole numbers, also written as 4e6.
inline std::string is_size(const std::string &text) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value);
    const bool fits = number && value >= 1 && value <= 1e15 && value == std::floor(value);
    return fits ? "" : "'" + text + "' is not a whole number from 1 to 1e15";
}

inline std::string is_positive(const std::string &text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && value > 0 ? "" : "must be above 0, not '" + text + "'";
}

inline std::string is_not_negative(const std::string &text) {
    double value = 0;
    return CLI::detail::lexical_cast(text, value) && value >= 0 ? "" : "must not be negative, but is '" + text + "'";
}

inline std::vector<int64_t> whole(const std::vector<double> &sizes) { return {sizes.begin(), sizes.end()}; }

// The options of the files that a table and its figure are written to. They lead to its members.
struct Files {
    std::string csv, svg;
    explicit Files(CLI::App &app, bool figure = false) {
        app.add_option("--csv", csv, "file for the table as comma separated values");
        if (figure) app.add_option("--svg", svg, "file for the figure");
    }
};

// A file of comma separated values or a picture; without a path it goes nowhere.
class Output {
  public:
    explicit Output(const std::string &path) : path_(path) {
        if (path_.empty()) return;
        file_.open(path_);
        check();
    }
    void write(const std::string &text) {
        if (path_.empty()) return;
        file_ << text << std::flush; // whole rows, should the program be ended early
        check();
    }

  private:
    void check() const {
        if (!file_) throw std::runtime_error("cannot write '" + path_ + "'");
    }
    std::string path_;
    std::ofstream file_;
};

// What stands for a number where there is none.
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

// A field of a row of comma separated values.
inline std::string field(const std::string &text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}
inline std::string field(int64_t number) { return std::to_string(number); }
inline std::string field(double number) { // nothing where it is absent
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    return std::isnan(number) ? "" : text;
}
template <class First, class... Rest> std::string csv_fields(const First &first, const Rest &...rest) {
    return (field(first) + ... + ("," + field(rest)));
}
template <class First, class... Rest> std::string csv_row(const First &first, const Rest &...rest) {
    return csv_fields(first, rest...) + "\n";
}

// A number in a column of the given width, a dash where it is absent.
inline std::string cell(const char *format, int width, double number) {
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    const std::string shown = std::isnan(number) ? "-" : text;
    return std::string(shown.size() < static_cast<std::size_t>(width) ? width - shown.size() : 0, ' ') + shown;
}

// main(): 0; 2 and one line about wrong arguments; 1 and one line about what went wrong later.
template <class Work> int run_program(CLI::App &app, const char *name, int argc, char **argv, const Work &work) {
    int status = 2;
    try {
        app.parse(argc, argv);
        status = 1;
        work();
        return 0;
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const std::invalid_argument &error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
        return status;
    }
}

} // namespace cudaopt::bench
