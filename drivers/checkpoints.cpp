#include "checkpoints.hpp"

#include "failure.hpp"
#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace driver {

std::vector<unsigned char> read_checkpoint(const std::string &path, const cudaopt::Handle &s) {
    const auto n = static_cast<double>(s.get_int(CUDA_OPT_DIMENSION)),
               m = static_cast<double>(s.get_int(CUDA_OPT_MEMORY));
    const double more_than_any = (2 * m + 8) * n * sizeof(double) + 100 * m * m + 10000; // see cuda_opt_save()
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

Checkpoints::Checkpoints(const Options &options)
    : path_(options.checkpoint), beside_(path_ + ".new"), every_(options.every.value_or(100)) {
    if (!wanted()) return;
    const std::filesystem::path path(path_);
    std::error_code none;
    if (exists(path, none) && !is_regular_file(path, none)) // /dev/null would be replaced
        throw Failure(exit_failed, "cannot write '" + path_ + "': not a regular file");
    OutputFile{beside_};
    std::remove(beside_.c_str());
}

void Checkpoints::observe(cudaopt::Handle &s, int task, const Interrupt &interrupt) {
    if (!wanted() || task <= 0) return;
    const bool stop = interrupt.requested();
    const int64_t iteration = s.get_int(CUDA_OPT_ITERATIONS);
    if (last_ < 0) last_ = iteration; // a resumed run has that one
    if (stop || iteration >= last_ + every_) {
        write(s.save());
        last_ = iteration;
    }
    if (stop) s.request_stop();
}

// Under the file's name there is a whole checkpoint at any moment, whatever ends the program or the machine.
void Checkpoints::write(const std::vector<unsigned char> &checkpoint) const {
    try {
        OutputFile file(beside_);
        file.write(checkpoint.data(), checkpoint.size());
        file.synchronise();
    } catch (const Failure &) {
        std::remove(beside_.c_str());
        throw;
    }
    if (std::rename(beside_.c_str(), path_.c_str()) != 0)
        throw Failure(exit_failed, "cannot write '" + path_ + "': " + std::strerror(errno));
}

} // namespace driver
