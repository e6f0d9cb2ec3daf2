#include "../../bench/harness.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace berth::bench;

namespace {

int run_words(std::vector<std::string> words, std::vector<bench> benches) {
  words.insert(words.begin(), "bench");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return run(static_cast<int>(words.size()), argv.data(), std::move(benches));
}

/// A bench that notes its turns.
bench noted(std::string name, std::string base, std::string& turns) {
  const char letter = name.front();
  return {.name = std::move(name), .base = std::move(base), .sample = [&turns, letter] {
            turns += letter;
            return 1.0;
          }};
}

}  // namespace

TEST_CASE("summarize: percentiles are samples, by nearest rank") {
  std::vector<double> samples;
  for (int i = 100; i >= 1; --i) samples.push_back(i);
  const auto numbers = summarize(samples);
  CHECK(numbers.n == 100);
  CHECK(numbers.min == 1);
  CHECK(numbers.p50 == 50);
  CHECK(numbers.p90 == 90);
  CHECK(numbers.p99 == 99);
  CHECK(numbers.max == 100);
  CHECK(summarize({7}).p99 == 7);
  CHECK(summarize({}).n == 0);
}

TEST_CASE("ratio: below 1 is better, whether less or more is good") {
  summary ours, base;
  ours.p50 = 50;
  base.p50 = 100;
  CHECK(ratio({.direction = better::less}, ours, base) == 0.5);
  CHECK(ratio({.direction = better::more}, ours, base) == 2.0);
  CHECK(ratio({.direction = better::more}, summary{}, base) == 0);
}

TEST_CASE("run: benches take turns, and warm-up rounds leave no sample") {
  std::string turns;
  CHECK(run_words({"--runs", "2", "--warmup", "1"}, {noted("a", "", turns), noted("b", "a", turns)}) == 0);
  CHECK(turns == "ababab");
}

TEST_CASE("run: a named bench brings its bases, and nothing else") {
  std::string turns;
  const std::vector<bench> all = {noted("a", "", turns), noted("b", "a", turns), noted("b-large", "b", turns)};
  CHECK(run_words({"--runs", "1", "--warmup", "0", "b"}, all) == 0);
  CHECK(turns == "ab");
  turns.clear();
  CHECK(run_words({"--runs", "1", "--warmup", "0", "b-"}, all) == 0);
  CHECK(turns == "abb");
}

TEST_CASE("run: what fails is counted, told, and makes the exit code 1") {
  const berth::test::temp_dir dir;
  const std::string path = dir / "results.json";
  int turn = 0;
  const bench failing{.name = "x", .sample = [&] {
                        if (++turn == 2) throw std::runtime_error("a \"bad\" turn");
                        return 3.0;
                      }};
  CHECK(run_words({"--runs", "4", "--warmup", "0", "--json", path}, {failing}) == 1);
  std::ifstream file(path);
  std::string machine, line;
  REQUIRE(std::getline(file, machine));
  REQUIRE(std::getline(file, line));
  CHECK(machine.starts_with(R"({"environment":{"system":")"));
  CHECK(line.starts_with(R"({"name":"x","unit":"us","n":3,"failures":1,"min":3.000,)"));
  CHECK(line.ends_with(R"("first_failure":"a \"bad\" turn","samples":[3.000,3.000,3.000]})"));
}

TEST_CASE("run: wrong arguments measure nothing and make the exit code 2") {
  std::string turns;
  const std::vector<std::vector<std::string>> wrong = {
      {"nothing-like-it"}, {"--runs"}, {"--runs", "0"}, {"--runs", "3x"}, {"--unknown"}, {"--json", "/nowhere/at/all"}};
  for (const auto& words : wrong) CHECK(run_words(words, {noted("a", "", turns)}) == 2);
  CHECK(turns.empty());
}
