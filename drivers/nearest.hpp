// Finds the name that a user has probably meant.
#pragma once

#include <string>
#include <vector>

namespace driver {

// Returns the name that is most similar to the text, or "" if there are no names. A text that lacks letters of a name,
// such as an abbreviation, is more similar to it than a text with wrong letters. Upper and lower case are equal.
std::string nearest(const std::string &text, const std::vector<std::string> &names);

} // namespace driver
