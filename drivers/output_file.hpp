// A file that is written to, and says so when it cannot be.
#pragma once

#include "failure.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace driver {

class OutputFile {
  public:
    explicit OutputFile(const std::string &path) : path_(path), file_(std::fopen(path.c_str(), "w")) {
        if (!file_) fail();
    }
    ~OutputFile() {
        if (file_) std::fclose(file_);
    }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    // Write the text through to the system: a full disk is noticed here, and a reader sees whole lines.
    void write(const std::string &text) { write(text.data(), text.size()); }
    void write(const void *bytes, std::size_t count) {
        if (std::fwrite(bytes, 1, count, file_) != count || std::fflush(file_) != 0) fail();
    }
    // What was written is on the disk on return.
    void synchronise() {
        if (fsync(fileno(file_)) != 0) fail();
    }

  private:
    [[noreturn]] void fail() const {
        throw Failure(exit_failed, "cannot write '" + path_ + "': " + std::strerror(errno));
    }

    std::string path_;
    std::FILE *file_;
};

} // namespace driver
