#pragma once
/// Walking a path by hand.

#include "os/path_rules.hpp"
#include "os/unique_fd.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// A name in an open directory: what system calls ending in `at` take.
struct located {
  unique_fd directory;  ///< O_PATH
  std::string name;     ///< one component, or "." for the directory itself
  unique_fd itself;     ///< O_PATH; where a file of elsewhere is seen under the name: that file. Else none.
};

/// One walk from "/": every component is opened in its parent, links are read and their text is walked, and `..` goes back to
/// what was open before, so that a directory that is moved meanwhile leads nowhere else. Where the path of a place is reached, the
/// walk goes on in that place. Links of /proc that lead to open files are refused. Blocks, and throws as `file_failure` does.
class path_walk {
 public:
  /// What becomes of the last component: it may be followed where it is a link, and entered where it is a directory.
  struct ending {
    bool follow;
    bool enter;
  };
  struct result {
    located where;
    std::string path;           ///< as seen, without links
    bool is_protected = false;  ///< it is, or a directory above it, known by device and number
  };

  path_walk(const ruled_places& places, ending last);
  result run(const std::string& path);

 private:
  struct position {
    std::string path;
    unique_fd fd;
    bool is_protected;
  };

  void push(std::string_view path);
  bool step(const std::string& name, bool last);
  void follow(int link);
  result end_at(const std::string& name);

  const ruled_places& places_;
  const ending last_;
  std::vector<position> stack_;
  std::vector<std::string> pending_;  // the next one last
  int links_ = 0;
};

}  // namespace berth
