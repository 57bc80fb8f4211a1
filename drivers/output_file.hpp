/* A file that is written to, and says so when it cannot be. */
#pragma once

#include "failure.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace driver {

class OutputFile {
public:
    explicit OutputFile(const std::string &path) : path_(path), file_(std::fopen(path.c_str(), "w"))
    {
        if (!file_)
            fail();
    }
    ~OutputFile()
    {
        if (file_)
            std::fclose(file_);
    }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    /** Write the text through to the system: a full disk is noticed here, and a reader sees whole lines. */
    void write(const std::string &text)
    {
        if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
            fail();
    }

private:
    [[noreturn]] void fail() const
    {
        throw Failure(exit_failed, "cannot write '" + path_ + "': " + std::strerror(errno));
    }

    std::string path_;
    std::FILE *file_;
};

} // namespace driver
