#include "cli/program.hpp"
#include "support/temp_dir.hpp"

#include <berth/version.hpp>

#include <cstdlib>
#include <sstream>

using namespace berth::test;

namespace {

/// Compares with tests/cli/data/NAME, or writes it where BERTH_UPDATE_GOLDEN is set.
void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(BERTH_SOURCE_DIR "/tests/cli/data/") + name;
  if (std::getenv("BERTH_UPDATE_GOLDEN") != nullptr) write_whole_file(path, text);
  CHECK(read_whole_file(path) == text);
}

void check_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
}

}  // namespace

TEST_CASE("help: what is printed is what was agreed on") {
  for (const std::string word :
       {"", "exec", "shell", "read", "write", "ls", "cp", "rm", "mkdir", "reap", "bench", "doctor"}) {
    const auto done = berth_ends(word.empty() ? words{"help"} : words{"help", word});
    CHECK(done.code == 0);
    CHECK(done.err == "");
    check_golden(word.empty() ? "help.txt" : "help_" + word + ".txt", done.out);
    check_width(done.out);
    if (!word.empty()) CHECK(berth_ends({word, "--help"}).out == done.out);
  }
}

TEST_CASE("help: every way to ask for it gives the same") {
  const auto general = berth_ends({"help"}).out;
  CHECK(berth_ends({"--help"}).out == general);
  CHECK(berth_ends({"-h"}).out == general);
  const auto exec = berth_ends({"help", "exec"}).out;
  CHECK(berth_ends({"exec", "--help"}).out == exec);
  CHECK(berth_ends({"exec", "--json", "-h", "ls"}).out == exec);
}

TEST_CASE("help: no arguments is a mistake, answered with the help on standard error") {
  const auto done = berth_ends({});
  CHECK(done.code == 125);
  CHECK(done.out == "");
  CHECK(done.err == berth_ends({"help"}).out);
}

TEST_CASE("help: version") {
  const auto expected = "berth " + std::string(berth::version) + "\n";
  CHECK(berth_ends({"version"}).out == expected);
  CHECK(berth_ends({"--version"}).out == expected);
}

TEST_CASE("help: output that cannot be written is not exit code 0") {
  CHECK(shell_ends("\"$0\" help >/dev/full").code == 125);
  CHECK(shell_ends("\"$0\" version >&-").code == 125);
}
