#pragma once
/// Test cases that cannot run here.

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace berth::test {

/// Has the current case counted as skipped, for this reason; it then returns. Once in a case.
inline void skip(const std::string& why) {
  std::printf("SKIPPED: %s: %s\n", doctest::getContextOptions()->currentTest->m_name, why.c_str());
}

inline bool has_bwrap() {
  if (std::filesystem::exists("/usr/bin/bwrap")) return true;
  skip("no /usr/bin/bwrap");
  return false;
}

}  // namespace berth::test
