#pragma once
/// Paths followed over links by this process, a step at a time.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace berth {

struct followed_path {
  std::string end;                 ///< without links, as far as it is there
  std::vector<std::string> links;  ///< that it went over, each by the real path of the directory that it lies in
};

/// `may_look` is asked about each part of the way, without links, before the host is. None where it says no, or behind 40 links. Blocks.
std::optional<followed_path> follow_path(const std::string& name,
                                         const std::function<bool(const std::string& path)>& may_look = {});

}  // namespace berth
