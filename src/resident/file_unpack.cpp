/// A tar stream as a directory.
#include "resident/file_answer.hpp"
#include "resident/file_paths.hpp"
#include "resident/file_verbs.hpp"
#include "resident/tar_extraction.hpp"

#include <fcntl.h>

namespace berth::resident {

void unpack_tree(const char* path) {
  make_directories(path);
  tar_extraction into(open_path(path, O_RDONLY | O_DIRECTORY));
  tar_reader reader(into);
  input from;
  for (std::string_view piece = from.next(); !piece.empty(); piece = from.next()) {
    const file_reason wrong = reader.feed(piece);
    if (wrong != file_reason::none) refuse(wrong, 0);
  }
  if (reader.finish() != file_reason::none) refuse(reader.finish(), 0);
  into.finish();
  answer_done();
}

}  // namespace berth::resident
