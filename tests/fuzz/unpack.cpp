// Whatever a tar stream holds, nothing outside of the directory it is unpacked in is touched.
#include "os/tree_unpacker.hpp"

#include "unpack_stage.hpp"

#include <cstdint>

namespace {

namespace fs = std::filesystem;

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
  static const berth::test::unpack_stage here;
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
