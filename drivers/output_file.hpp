// An output file that throws an exception if it cannot be written.
#pragma once

#include "failure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace driver {

class OutputFile {
  public:
    // Opens the file for writing. flags: additional flags for the system call open().
    explicit OutputFile(const std::string &path, int flags = O_TRUNC) : path_(path), file_(opened(path, flags)) {
        if (!file_) fail();
    }
    ~OutputFile() {
        if (file_) std::fclose(file_);
    }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    // Writes the text and flushes it to the operating system. A full disk is then detected here, and a reader sees
    // whole lines.
    void write(const std::string &text) { write(text.data(), text.size()); }
    void write(const void *bytes, std::size_t count) {
        if (std::fwrite(bytes, 1, count, file_) != count || std::fflush(file_) != 0) fail();
    }
    // Waits until all data has been written to the disk.
    void synchronise() {
        if (fsync(fileno(file_)) != 0) fail();
    }

  private:
    static std::FILE *opened(const std::string &path, int flags) {
        const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
        return descriptor < 0 ? nullptr : fdopen(descriptor, "w");
    }
    [[noreturn]] void fail() const {
        throw Failure(exit_failed, "cannot write '" + path_ + "': " + std::strerror(errno));
    }

    std::string path_;
    std::FILE *file_;
};

} // namespace driver
