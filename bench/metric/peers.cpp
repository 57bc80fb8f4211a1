#include "peers.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace cudaopt::bench {

namespace {

// The fields of a row; a quoted one may hold commas.
std::vector<std::string> fields_of(const std::string &row) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : row) {
        if (c == '"') quoted = !quoted;
        else if (c == ',' && !quoted) fields.emplace_back();
        else if (c != '\r') fields.back() += c;
    }
    return fields;
}

} // namespace

std::vector<PeerRow> read_peers(const std::string &path) {
    std::ifstream file(path);
    std::string row;
    if (!std::getline(file, row) || row.compare(0, 36, "problem,n,bounded,m,solver,evaluatio") != 0)
        throw std::invalid_argument("'" + path + "' has no rows of tools/compare_tao");
    std::vector<PeerRow> rows;
    while (std::getline(file, row)) {
        const std::vector<std::string> fields = fields_of(row);
        if (fields.size() < 10) throw std::invalid_argument("'" + path + "' has a row without its ten fields: " + row);
        rows.push_back(
            {fields[0], fields[4], std::atoi(fields[3].c_str()), fields[9] == "1", std::atof(fields[5].c_str())});
    }
    return rows;
}

} // namespace cudaopt::bench
