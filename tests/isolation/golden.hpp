#pragma once
/// Texts that are compared with files.

#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

/// The text in tests/isolation/data/NAME; where BERTH_UPDATE_GOLDEN is set it is `now`, and the file is written.
std::string golden(const std::string& name, std::string_view now);

/// One word a line, each in quotes where it needs them.
std::string shown_words(const std::vector<std::string>& words);

}  // namespace berth::test
