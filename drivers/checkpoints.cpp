#include "checkpoints.hpp"

#include "failure.hpp"
#include "output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

namespace driver {

std::vector<unsigned char> read_checkpoint(const std::string &path, const cudaopt::Handle &s) {
    const auto n = static_cast<double>(s.get_int(CUDA_OPT_DIMENSION)),
               m = static_cast<double>(s.get_int(CUDA_OPT_MEMORY));
    // This number exceeds the size in bytes of every checkpoint of such a solve (see cuda_opt_save()).
    const double more_than_any = (2 * m + 8) * n * sizeof(double) + 100 * m * m + 10000;
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    const auto fail = [&path] { throw Failure(exit_failed, "cannot read '" + path + "': " + std::strerror(errno)); };
    if (!file) fail();
    std::vector<unsigned char> bytes;
    std::vector<unsigned char> piece(1 << 20);
    while (static_cast<double>(bytes.size()) <= more_than_any) {
        const std::size_t count = std::fread(piece.data(), 1, piece.size(), file.get());
        if (count == 0) break;
        bytes.insert(bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (std::ferror(file.get())) fail();
    return bytes;
}

namespace {

[[noreturn]] void fail_to_write(const std::string &path) {
    throw Failure(exit_failed, "cannot write '" + path + "': " + std::strerror(errno));
}

// Returns the path after all symbolic links are resolved, even if the target does not exist. Otherwise rename() would
// replace the link itself by a file.
std::string followed(std::filesystem::path path) {
    // Linux follows at most the same number of symbolic links.
    constexpr int most_links = 40;
    std::error_code error;
    for (int links = 0; is_symlink(path, error); links++) {
        if (links == most_links) errno = ELOOP, fail_to_write(path);
        const std::filesystem::path target = read_symlink(path, error);
        if (error) errno = error.value(), fail_to_write(path);
        // If the target is an absolute path, operator/ returns the target itself.
        path = path.parent_path() / target;
    }
    return path;
}

// A new file with an unused name in the same folder as `path`. No existing file is opened or removed.
class NewFile {
  public:
    explicit NewFile(const std::string &path) {
        for (int number = 0; !file_; number++) {
            name_ = path + "." + std::to_string(getpid()) + "-" + std::to_string(number) + ".new";
            try {
                file_.emplace(name_, O_EXCL | O_NOFOLLOW);
            } catch (const Failure &) {
                if (errno != EEXIST) throw;
            }
        }
    }
    ~NewFile() {
        if (file_) std::remove(name_.c_str());
    }
    OutputFile &operator*() { return *file_; }
    // Renames the new file to `path`. An existing file with that name is replaced.
    void rename_to(const std::string &path) {
        if (std::rename(name_.c_str(), path.c_str()) != 0) fail_to_write(path);
        file_.reset();
    }

  private:
    std::string name_;
    std::optional<OutputFile> file_;
};

} // namespace

Checkpoints::Checkpoints(const Options &options)
    : path_(followed(options.checkpoint)), every_(options.every.value_or(100)) {
    if (!wanted()) return;
    const std::filesystem::path path(path_);
    std::error_code none;
    // Special files such as /dev/null are rejected, because rename() would replace them.
    if (exists(path, none) && !is_regular_file(path, none))
        throw Failure(exit_failed, "cannot write '" + path_ + "': not a regular file");
    NewFile{path_};
}

void Checkpoints::observe(cudaopt::Handle &s, int task, const Interrupt &interrupt, double seconds) {
    if (!wanted() || task <= 0) return;
    const bool stop = interrupt.requested() && task != CUDA_OPT_NEW_ITERATE;
    const int64_t iteration = s.get_int(CUDA_OPT_ITERATIONS);
    // The first call only stores the iteration at which this run begins. Therefore a resumed run does not rewrite the
    // checkpoint from which it was resumed.
    if (last_ < 0) last_ = iteration;
    const bool due = task != CUDA_OPT_NEW_ITERATE && iteration >= last_ + every_;
    if (may_end_at_limit(s, task, seconds) || stop || due) {
        write(s.save());
        last_ = iteration;
    }
    if (stop) s.request_stop();
}

// Returns whether the next call of the solver may end the solve at a limit of iterations, evaluations or time. The
// solver checks the time only during its calls. The next call is assumed to take at most twice as long as the longest
// one so far.
bool Checkpoints::may_end_at_limit(const cudaopt::Handle &s, int task, double seconds) {
    longest_call_ = std::max(longest_call_, seconds - seconds_before_);
    seconds_before_ = seconds;
    const int64_t iterations = s.get_int(CUDA_OPT_MAX_ITERATIONS), evaluations = s.get_int(CUDA_OPT_MAX_EVALUATIONS);
    const double time = s.get_real(CUDA_OPT_MAX_SECONDS);
    return (task == CUDA_OPT_NEW_ITERATE && iterations > 0 && s.get_int(CUDA_OPT_ITERATIONS) >= iterations) ||
           (evaluations > 0 && s.get_int(CUDA_OPT_EVALUATIONS) >= evaluations) ||
           (time > 0 && seconds + 2 * longest_call_ >= time);
}

// Writes a checkpoint. At any moment the file is a complete checkpoint, even if the program or the machine stops during
// the write.
void Checkpoints::write(const std::vector<unsigned char> &checkpoint) const {
    NewFile file(path_);
    (*file).write(checkpoint.data(), checkpoint.size());
    (*file).synchronise();
    file.rename_to(path_);
}

} // namespace driver
