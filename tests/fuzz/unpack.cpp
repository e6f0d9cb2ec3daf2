// Whatever a tar stream holds, nothing outside of the directory it is unpacked in is touched.
#include "os/tree_unpacker.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace {

namespace fs = std::filesystem;

/// base/{to, outside/secret}
struct stage {
  stage() {
    std::string name =
        ((fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) / "berth-fuzz-XXXXXX")
            .string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    base = name;
    fs::create_directory(base / "outside");
    std::ofstream(base / "outside/secret") << "secret";
  }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;
  ~stage() {
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

/// No link below leads out of the tree.
bool links_are_safe(const fs::path& top) {
  std::error_code failed;
  for (const auto& each :
       fs::recursive_directory_iterator(top, fs::directory_options::skip_permission_denied, failed)) {
    if (!each.is_symlink()) continue;
    const auto path = each.path().lexically_relative(top).string();
    if (berth::leads_outside(path, fs::read_symlink(each.path()).string())) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const stage here;
  const auto to = (here.base / "to").string();
  try {
    berth::tree_unpacker work(berth::whole_host(), to, berth::outside_links::skip);
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const std::size_t piece = size > 0 ? 100 + data[size - 1] * std::size_t{16} : 1;
    for (std::size_t at = 0; at < size; at += piece) work.feed(bytes.substr(at, piece));
    work.finish();
  } catch (const std::system_error&) {  // refused
  }
  if (!here.untouched() || !links_are_safe(to)) std::abort();
  here.clear();
  return 0;
}
