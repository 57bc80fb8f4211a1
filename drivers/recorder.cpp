#include "recorder.hpp"

#include "convergence_plot.hpp"
#include "csv.hpp"

namespace driver {

Recorder::Recorder(const Options &options) {
    if (!options.csv.empty()) {
        csv_.emplace(options.csv);
        csv_->write(csv_header());
    }
    if (!options.plot.empty()) plot_.emplace(options.plot);
}

void Recorder::observe(const cudaopt::Handle &s, int64_t evaluations, double seconds) {
    if ((!csv_ && !plot_) || evaluations == 0 || s.get_int(CUDA_OPT_ITERATIONS) == last_) return;
    const Iterate iterate = current_iterate(s, evaluations, seconds);
    last_ = iterate.iteration;
    if (csv_) csv_->write(csv_row(iterate));
    if (plot_) history_.push_back(iterate);
}

void Recorder::draw(const std::string &title, const std::string &subtitle) {
    if (plot_) plot_->write(convergence_plot(history_, title, subtitle));
}

} // namespace driver
