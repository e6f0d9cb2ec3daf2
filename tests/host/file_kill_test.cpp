/// A few rounds of what the soak `files` repeats for long.
#include "soak/file_rounds.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

TEST_CASE("files: readers see whole files while writers are killed") {
  const berth::test::temp_dir directory;
  berth::test::file_rounds seen;
  for (int number = 0; number < 10; ++number) {
    const std::string wrong = berth::test::kill_a_writer(directory.path(), number, seen);
    CHECK(wrong == "");
  }
  CHECK(seen.contents > 10);
}
