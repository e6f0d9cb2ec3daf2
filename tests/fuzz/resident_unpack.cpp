// The resident's own unpacking: whatever a tar stream holds, nothing outside of the directory it is unpacked in is touched, and how the
// stream was cut makes no difference.
#include "resident/file_paths.hpp"
#include "resident/tar_extraction.hpp"

#include "unpack_stage.hpp"

#include <fcntl.h>

#include <cstdint>
#include <cstring>

namespace {

namespace resident = berth::resident;

struct refused {};

/// Writes down what it hears.
class listener final : public resident::tar_sink {
 public:
  void begin(const resident::tar_entry& entry) override {
    if (std::strlen(entry.path) > (1u << 20)) std::abort();
    heard += std::to_string(entry.what) + " " + std::to_string(entry.mode) + " " + std::to_string(entry.size) + " " +
             entry.path + " > " + entry.link + "\n";
    left = entry.size;
  }
  void data(std::string_view bytes) override {
    if (bytes.size() > left) std::abort();
    left -= bytes.size();
    heard += bytes;
  }
  void end() override {
    if (left != 0) std::abort();
    heard += "end\n";
  }

  std::string heard;
  std::uint64_t left = 0;
};

resident::file_reason feed(resident::tar_sink& to, std::string_view bytes, std::size_t piece) {
  resident::tar_reader reader(to);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto wrong = reader.feed(bytes.substr(at, piece));
    if (wrong != resident::file_reason::none) return wrong;
  }
  return reader.finish();
}

}  // namespace

/// In the program it ends it; here it must end the extraction alone.
void berth::resident::refuse(file_reason, int, std::string_view) { throw refused(); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const berth::test::unpack_stage here;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = size > 0 ? 1 + data[size - 1] * std::size_t{5} : 1;
  listener whole, parts;
  if (feed(whole, bytes, size + 1) != feed(parts, bytes, piece) || whole.heard != parts.heard) std::abort();
  const auto to = (here.base / "to").string();
  try {
    resident::make_directories(to.c_str());
    resident::tar_extraction into(resident::open_path(to.c_str(), O_RDONLY | O_DIRECTORY));
    if (feed(into, bytes, piece) == resident::file_reason::none) into.finish();
  } catch (const refused&) {
  }
  if (!here.untouched()) std::abort();
  here.clear();
  return 0;
}
