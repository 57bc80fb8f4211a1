// Logs and messages have a decimal point in every locale, and writing them does not change the locale of the process.
#include <catch2/catch.hpp>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "cuda_opt.h"

namespace {

void keep(void *text, const char *line) { *static_cast<std::string *>(text) += std::string(line) + "\n"; }

std::string log_and_sentences() {
    std::string text;
    double x[2] = {-1.2, 1}, f = 0, g[2] = {};
    cuda_opt *s = nullptr;
    cuda_opt_create(&s, 2, 3, CUDA_OPT_BACKEND_HOST);
    cuda_opt_set_int(s, CUDA_OPT_THREADS, 1);
    cuda_opt_set_int(s, CUDA_OPT_IPRINT_FREQUENCY, 1);
    cuda_opt_set_int(s, CUDA_OPT_IPRINT_TYPE, 3);
    cuda_opt_set_log(s, keep, &text);
    cuda_opt_set_uniform_bounds(s, 1.5, 0.5);
    text += cuda_opt_message(s);
    cuda_opt_set_real(s, CUDA_OPT_GTOL, 1.25);
    text += cuda_opt_message(s);
    while (cuda_opt_solve(s, x, &f, g) == CUDA_OPT_EVALUATE_FG) {
        const double a = x[1] - x[0] * x[0], b = 1 - x[0];
        f = 100 * a * a + b * b;
        g[0] = -400 * x[0] * a - 2 * b;
        g[1] = 200 * a;
        text += cuda_opt_message(s);
    }
    text += cuda_opt_message(s);
    cuda_opt_destroy(&s);
    return text;
}

// A locale with a decimal comma. The test compiles it if the sources of locales are installed.
class CommaLocale {
  public:
    CommaLocale() {
        char name[] = "/tmp/locale-XXXXXX";
        if (!mkdtemp(name)) return;
        folder_ = name;
        const std::string make = "localedef -i de_DE -f UTF-8 " + folder_ + "/de_DE.UTF-8 >/dev/null 2>&1";
        setenv("LOCPATH", name, 1);
        is_set_ = std::system(make.c_str()) >= 0 && std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
    }
    ~CommaLocale() {
        std::setlocale(LC_ALL, "C");
        unsetenv("LOCPATH");
        std::error_code none;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, none);
    }
    bool is_set() const { return is_set_ && *std::localeconv()->decimal_point == ','; }

  private:
    std::string folder_;
    bool is_set_ = false;
};

} // namespace

TEST_CASE("The log and all sentences are the same in a locale with a decimal comma", "[api]") {
    const std::string usual = log_and_sentences();
    const CommaLocale comma;
    if (!comma.is_set()) {
        WARN("skipped: sentences are not compared in a locale with a decimal comma, for this machine has none");
        return;
    }
    CHECK(log_and_sentences() == usual);
    CHECK(usual.find("l = 1.5") != std::string::npos);
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 1.5); // the caller's locale has not changed
    CHECK(std::string(text) == "1,5");
}
