#include "harness.hpp"

#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace berth::bench {
namespace {

struct arguments {
  settings counts;
  std::string json_path;
  bool list = false;
  std::vector<std::string> names;
};

int to_count(const std::string& option, const std::string& text, int least) {
  std::size_t used = 0;
  int count = 0;
  try {
    count = std::stoi(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || count < least) {
    throw std::invalid_argument(option + ": '" + text + "' is no count");
  }
  return count;
}

arguments parse(int argc, char** argv, settings defaults) {
  arguments parsed;
  parsed.counts = defaults;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list") {
      parsed.list = true;
    } else if (word == "--runs" || word == "--warmup" || word == "--json") {
      if (++i == argc) throw std::invalid_argument(word + ": its value is missing");
      if (word == "--runs") parsed.counts.runs = to_count(word, argv[i], 1);
      if (word == "--warmup") parsed.counts.warmup = to_count(word, argv[i], 0);
      if (word == "--json") parsed.json_path = argv[i];
    } else if (word.starts_with("-")) {
      throw std::invalid_argument("unknown option " + word + "; there are --runs N, --warmup N, --json FILE, --list");
    } else {
      parsed.names.push_back(word);
    }
  }
  return parsed;
}

/// Marks a bench and, up the line, its bases.
void choose(const std::vector<bench>& all, std::vector<bool>& chosen, std::size_t index) {
  if (chosen[index]) return;
  chosen[index] = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == all[index].base) choose(all, chosen, i);
  }
}

std::vector<bench> chosen_benches(const std::vector<bench>& all, const std::vector<std::string>& names) {
  std::vector<bool> chosen(all.size(), names.empty());
  for (const auto& name : names) {
    const bool whole = std::any_of(all.begin(), all.end(), [&](const bench& each) { return each.name == name; });
    bool found = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (whole ? all[i].name != name : !all[i].name.starts_with(name)) continue;
      choose(all, chosen, i);
      found = true;
    }
    if (!found) throw std::invalid_argument("no bench is called '" + name + "'; --list names them");
  }
  std::vector<bench> left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) left.push_back(all[i]);
  }
  return left;
}

/// One sample, or a failure counted; a sample of a warm-up round is thrown away.
void take(const bench& what, measured& into, bool counts) {
  try {
    const double value = what.sample();
    if (counts) into.samples.push_back(value);
  } catch (const std::exception& failure) {
    if (into.failures++ == 0) into.first_failure = failure.what();
  }
}

std::vector<measured> measure(const std::vector<bench>& benches, settings counts) {
  std::vector<measured> results;
  for (const auto& each : benches) results.push_back({.what = each});
  for (int round = -counts.warmup; round < counts.runs; ++round) {
    for (std::size_t i = 0; i < benches.size(); ++i) take(benches[i], results[i], round >= 0);
  }
  for (auto& each : results) {
    each.numbers = summarize(each.samples);
    each.numbers.failures = each.failures;
    each.numbers.first_failure = each.first_failure;
  }
  for (auto& each : results) {
    for (const auto& base : results) {
      if (base.what.name == each.what.base) each.ratio = ratio(each.what, each.numbers, base.numbers);
    }
  }
  return results;
}

void print_list(const std::vector<bench>& benches) {
  for (const auto& each : benches) {
    std::printf("%s%s%s\n", each.name.c_str(), each.base.empty() ? "" : " against ", each.base.c_str());
  }
}

}  // namespace

summary summarize(std::vector<double> samples) {
  summary numbers;
  numbers.n = samples.size();
  if (samples.empty()) return numbers;
  std::sort(samples.begin(), samples.end());
  const auto rank = [&](double part) {
    const auto nth = static_cast<std::size_t>(std::ceil(part * static_cast<double>(samples.size())));
    return samples[nth == 0 ? 0 : nth - 1];
  };
  numbers.min = samples.front();
  numbers.p50 = rank(0.5);
  numbers.p90 = rank(0.9);
  numbers.p99 = rank(0.99);
  numbers.max = samples.back();
  return numbers;
}

double ratio(const bench& ours, const summary& of_ours, const summary& of_base) {
  if (of_ours.p50 <= 0 || of_base.p50 <= 0) return 0;
  return ours.direction == better::less ? of_ours.p50 / of_base.p50 : of_base.p50 / of_ours.p50;
}

int run(int argc, char** argv, std::vector<bench> benches, settings defaults) {
  try {
    const auto asked = parse(argc, argv, defaults);
    const auto chosen = chosen_benches(benches, asked.names);
    if (asked.list) {
      print_list(benches);
      return 0;
    }
    json_file json(asked.json_path);
    const auto results = measure(chosen, asked.counts);
    print_table(results, asked.counts);
    json.write(results, asked.counts);
    return std::any_of(results.begin(), results.end(), [](const auto& each) { return each.failures > 0; }) ? 1 : 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bench: %s\n", failure.what());
    return 2;
  }
}

}  // namespace berth::bench
