#pragma once
/// Where fuzzed archives are unpacked.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace berth::test {

namespace fs = std::filesystem;

/// base/{to, outside/secret}
struct unpack_stage {
  unpack_stage() {
    std::string name =
        ((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) / "berth-fuzz-XXXXXX")
            .string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    base = name;
    fs::create_directory(base / "outside");
    std::ofstream(base / "outside/secret") << "secret";
  }
  unpack_stage(const unpack_stage&) = delete;
  unpack_stage& operator=(const unpack_stage&) = delete;
  ~unpack_stage() {
    std::error_code ignored;
    fs::remove_all(base, ignored);
  }

  /// All that is outside is as it was.
  bool untouched() const {
    if (std::distance(fs::directory_iterator(base), fs::directory_iterator()) > 2) return false;
    if (std::distance(fs::directory_iterator(base / "outside"), fs::directory_iterator()) != 1) return false;
    std::ifstream secret(base / "outside/secret");
    const std::string bytes(std::istreambuf_iterator<char>(secret), {});
    return bytes == "secret" && fs::hard_link_count(base / "outside/secret") == 1 &&
           !fs::exists("/tmp/berth-fuzz-evil");
  }

  void clear() const {
    // A directory may have come without permission bits; only its owner minds.
    for (int tries = 0; tries < 2; ++tries) {
      std::error_code failed;
      fs::remove_all(base / "to", failed);
      if (!failed) return;
      for (auto at = fs::recursive_directory_iterator(base / "to", failed); at != fs::recursive_directory_iterator();
           at.increment(failed)) {
        if (at->is_directory(failed) && !at->is_symlink(failed))
          fs::permissions(at->path(), fs::perms::owner_all, failed);
      }
    }
  }

  fs::path base;
};

}  // namespace berth::test
