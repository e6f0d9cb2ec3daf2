#pragma once
/// What is in a directory, and its end.

#include "os/directory_walk.hpp"
#include "os/path_scope.hpp"

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Lists a tree. A directory in it that may not be read is an error, not an empty one.
class tree_listing final : public sliced_work {
 public:
  tree_listing(std::shared_ptr<const path_scope> scope, const std::string& path, std::size_t depth);
  bool step() override;
  std::vector<file_info> take() { return std::move(found_); }

 private:
  tree_listing(std::shared_ptr<const path_scope> scope, open_tree top, std::size_t depth);

  std::shared_ptr<const path_scope> scope_;
  std::string top_;
  directory_walk walk_;
  std::size_t depth_;
  std::vector<file_info> found_;
};

/// Removes a file, a link or a directory.
class tree_removal final : public sliced_work {
 public:
  tree_removal(const path_scope& scope, const std::string& path, bool recursive);
  ~tree_removal() override;
  bool step() override;

 private:
  class emptying;
  void remove_itself();

  located where_;
  bool recursive_;
  std::unique_ptr<emptying> emptying_;
  int tries_ = 0;
};

/// As `backend_files` has them.
file_info stat_file(const path_scope& scope, const std::string& path);
void rename_file(const path_scope& scope, const std::string& from, const std::string& to);

}  // namespace berth
