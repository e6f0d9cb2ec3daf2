// Runs one fuzz target without libFuzzer: the seeds of a folder, then a fixed number of their mutations from a fixed
// seed, so that every run is the same run, but for how far a slow one comes in its time. The input at work is kept in TARGET.crash (or the file named by
// BERTH_FUZZ_CRASH), removed at the end; after a crash it is the reproducer: `TARGET FILE` runs it alone.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using input = std::vector<std::uint8_t>;

constexpr std::size_t largest_input = 4096;
constexpr std::chrono::seconds longest{40};

input read_input(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<input> read_seeds(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> names;
  if (std::filesystem::is_directory(path))
    for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path());
  std::sort(names.begin(), names.end());  // a folder has no order of its own
  std::vector<input> seeds;
  for (const auto& name : names) seeds.push_back(read_input(name));
  return seeds;
}

class mutator {
 public:
  explicit mutator(std::vector<input> seeds) : seeds_(std::move(seeds)) {
    if (seeds_.empty()) seeds_.emplace_back();
  }

  input next() {
    input bytes = seeds_[below(seeds_.size())];
    for (std::size_t steps = 1 + below(8); steps > 0; --steps) mutate(bytes);
    if (bytes.size() > largest_input) bytes.resize(largest_input);
    return bytes;
  }

 private:
  // Not a std distribution: those differ from one standard library to the next.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  void mutate(input& bytes) {
    static constexpr std::uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
    const auto at = static_cast<std::ptrdiff_t>(below(bytes.size() + 1));
    const auto rest = bytes.size() - static_cast<std::size_t>(at);
    switch (below(6)) {
      case 0:  // flip a bit
        if (rest > 0) bytes[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:  // a value at the edge of its range
        if (rest > 0) bytes[static_cast<std::size_t>(at)] = edges[below(std::size(edges))];
        break;
      case 2:
        bytes.insert(bytes.begin() + at, 1 + below(16), static_cast<std::uint8_t>(below(256)));
        break;
      case 3:
        bytes.erase(bytes.begin() + at, bytes.begin() + at + static_cast<std::ptrdiff_t>(below(rest + 1)));
        break;
      case 4:  // cut short, as a stream that breaks off
        bytes.resize(static_cast<std::size_t>(at));
        break;
      default: {  // go on with another seed
        const input& other = seeds_[below(seeds_.size())];
        bytes.insert(bytes.end(), other.begin(), other.end());
      }
    }
  }

  std::vector<input> seeds_;
  std::mt19937_64 random_{20240229};
};

// The file that holds the input at work; one that cannot be written only costs the reproducer.
class crash_file {
 public:
  explicit crash_file(std::string path)
      : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}

  void keep(const input& bytes) {
    if (fd_ < 0 || ::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, bytes.data(), bytes.size(), 0) < 0) return;
  }

  void remove() { std::remove(path_.c_str()); }

 private:
  std::string path_;
  int fd_;
};

void run(const input& bytes, crash_file& crash) {
  crash.keep(bytes);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER-OF-SEEDS or FILE\n", argv[0]);
    return 2;
  }
  const std::filesystem::path path = argv[1];
  if (std::filesystem::is_regular_file(path)) {  // a reproducer: leave it alone
    const input bytes = read_input(path);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    return 0;
  }
  const char* named = std::getenv("BERTH_FUZZ_CRASH");
  const char* asked = std::getenv("BERTH_FUZZ_RUNS");
  const long runs = asked ? std::strtol(asked, nullptr, 10) : 20000;
  crash_file crash(named ? named : std::string(argv[0]) + ".crash");

  const std::vector<input> seeds = read_seeds(path);
  for (const input& seed : seeds) run(seed, crash);
  mutator mutations(seeds);
  const auto until = std::chrono::steady_clock::now() + longest;
  long done = 0;
  for (; done < runs && std::chrono::steady_clock::now() < until; ++done) run(mutations.next(), crash);

  crash.remove();
  std::printf("%zu seeds, %ld mutations\n", seeds.size(), done);
  std::puts("[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped");
}
