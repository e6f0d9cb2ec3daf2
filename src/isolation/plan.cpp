#include "isolation/plan.hpp"

#include "berth/error.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "isolation/all_roots.hpp"
#include "isolation/bwrap.hpp"
#include "isolation/dangerous_sockets.hpp"
#include "isolation/git_link.hpp"
#include "isolation/other_case.hpp"
#include "isolation/real_path.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view in_git = ".git/";

/// Puts a plan together: first the roots, then what is protected in them.
class planning {
 public:
  planning(const isolation_settings& settings, std::vector<std::string> roots, const logger& log)
      : settings_(settings), given_(std::move(roots)), log_(log), roots_(given_) {}

  isolation_plan run(std::string tmp) {
    if (!tmp.empty()) place_tmp(std::move(tmp));
    for (const std::string& root : given_) open_worktree(root);
    choose_roots();
    plan_.looked_at.insert(plan_.looked_at.end(), plan_.roots.begin(), plan_.roots.end());
    for (const std::string& path : settings_.protected_paths()) protect_named(path);
    for (const std::string& root : given_) protect_repository(root);
    for (const std::string& path : wanted_) look_for(path);
    tidy_protected();
    plan_.network = settings_.network();
    plan_.unix_sockets = settings_.unix_sockets();
    if (plan_.unix_sockets == access_rule::allow) mask();
    pin();
    return std::move(plan_);
  }

 private:
  void choose_roots() {
    plan_.roots = outermost(roots_);
    if (directory_of("/", plan_.roots) != nullptr) {
      // The private /tmp lies over that one.
      std::vector<std::string> covered = roots_;
      std::erase_if(covered, [this](const std::string& each) { return directory_of(each, plan_.tmp_at) == nullptr; });
      covered = outermost(covered);
      plan_.roots.insert(plan_.roots.begin(), covered.begin(), covered.end());
    }
    for (const std::string& each : mount_points(plan_)) {
      plan_.looked_at.push_back(plan_.tmp + each.substr(directory_of(each, plan_.tmp_at)->size()));
    }
  }

  /// A command could have made all that is there.
  bool is_of_commands(const std::string& path) const {
    return directory_of(path, given_) != nullptr || (!plan_.tmp.empty() && is_at_or_below(path, plan_.tmp));
  }

  void open_worktree(const std::string& root) {
    const std::string dot_git = root + "/.git";
    plan_.looked_at.push_back(dot_git);
    const auto link = read_git_link(dot_git);
    if (!link) return;
    links_.push_back(*link);
    for (const std::string& each : {dot_git, link->own + "/gitdir", link->own + "/commondir"}) {
      plan_.read.push_back(each);
    }
    protect(dot_git);
    for (const char* name : {"gitdir", "commondir", "config.worktree"}) protect(link->own + "/" + name);
    if (directory_of(link->repository, given_) != nullptr) return;
    if (link->is_mutual && !is_of_commands(link->own)) {
      if (directory_of(link->repository, roots_) == nullptr) roots_.push_back(link->repository);
    } else {
      log_.warning("isolation: " + shown_path(dot_git) + " leads to " + shown_path(link->repository) +
                   ", which is not writable: it is no worktree of that repository");
    }
  }

  void protect_named(const std::string& path) {
    if (path.starts_with('/')) return protect(path);
    for (const std::string& root : roots_) protect(root + "/" + path);
    if (!path.starts_with(in_git)) return;
    for (const git_link& link : links_) {
      protect(link.repository + "/" + path.substr(in_git.size()));
      protect(link.own + "/" + path.substr(in_git.size()));
    }
  }

  /// Where a root is `.git` itself, or a bare repository. What tells that is pinned, so that no command can take it away.
  void protect_repository(const std::string& root) {
    std::vector<std::string> parts;
    for (const char* name : {"/objects", "/refs"}) {
      plan_.looked_at.push_back(root + name);
      const auto real = real_path_if_there(root + name);
      if (real && fs::is_directory(*real)) parts.push_back(*real);
    }
    if (parts.size() < 2) return;
    plan_.pinned.insert(plan_.pinned.end(), parts.begin(), parts.end());
    for (const std::string& path : settings_.protected_paths()) {
      if (path.starts_with(in_git)) protect(root + "/" + path.substr(in_git.size()));
    }
  }

  /// By its text: what is below `..` is protected though a command removed what stood before that.
  void protect(const std::string& path) { wanted_.push_back(normal_path(path)); }

  /// It is protected by its real path, where it is there.
  void look_for(const std::string& path) {
    plan_.looked_at.push_back(path);
    refuse_other_case(normal_path(path));
    auto real = real_path_if_there(path);
    if (!real) return;
    refuse_other_case(*real);
    refuse_wide_link(path, *real);
    plan_.protected_paths.push_back(std::move(*real));
  }

  /// A command can make a link in a root that would have all of the root protected. Who protects a root by its own name means it.
  void refuse_wide_link(const std::string& path, const std::string& real) const {
    const std::string plain = normal_path(path);
    if (plain == real || directory_of(plain, roots_) == nullptr) return;
    const auto is_in_it = [&real](const std::string& each) { return is_at_or_below(each, real); };
    if (!is_in_it(plain) && std::none_of(roots_.begin(), roots_.end(), is_in_it)) return;
    throw error(
        make_error_code(errc::unsupported),
        shown_path(path) + " leads over a link to " + shown_path(real) +
            ", which is a writable root, or holds one or the link, so it cannot be protected (remove the link)");
  }

  /// A mount lies on one name, and so do the rules of file operations.
  void refuse_other_case(const std::string& path) const {
    const std::string* const root = directory_of(path, roots_);
    const std::string other = root == nullptr ? std::string() : find_other_case(path, *root, lookup_here());
    if (other.empty()) return;
    throw error(make_error_code(errc::unsupported),
                shown_path(other) +
                    " is found though nothing has that name: this file system does not tell upper from "
                    "lower case, so nothing can be protected in it (work on one that does)");
  }

  void tidy_protected() {
    auto& all = plan_.protected_paths;
    std::sort(all.begin(), all.end());
    std::vector<std::string> kept;
    for (const std::string& each : all) {
      if (root_of(each) != nullptr && directory_of(each, kept) == nullptr) kept.push_back(each);
    }
    all = std::move(kept);
  }

  /// Through which root the path may be written; null: through none, or a private /tmp lies over it.
  const std::string* root_of(const std::string& path) const {
    const std::string* const root = directory_of(path, plan_.roots);
    const bool is_covered = root != nullptr && *root == "/" && directory_of(path, plan_.tmp_at) != nullptr;
    return is_covered ? nullptr : root;
  }

  void pin_above(const std::string& path) {
    const std::string* const root = root_of(path);
    if (root == nullptr) return;
    for (fs::path up = fs::path(path).parent_path(); up.string().size() > root->size(); up = up.parent_path()) {
      plan_.pinned.push_back(up.string());
    }
  }

  void pin() {
    for (const auto* list : {&plan_.protected_paths, &plan_.masked_sockets, &plan_.masked_directories}) {
      for (const std::string& each : *list) pin_above(each);
    }
    auto& all = plan_.pinned;
    std::erase_if(all, [this](const std::string& each) {
      const std::string* const root = root_of(each);
      return root == nullptr || *root == each || directory_of(each, plan_.protected_paths) != nullptr;
    });
    std::sort(all.begin(), all.end());  // a directory comes before what lies in it
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }

  void place_tmp(std::string tmp) {
    plan_.tmp = std::move(tmp);
    for (const char* each : {"/tmp", "/var/tmp"}) {
      std::error_code code;
      const fs::path real = fs::canonical(each, code);
      if (!code && directory_of(real.string(), plan_.tmp_at) == nullptr) plan_.tmp_at.push_back(real.string());
    }
  }

  void mask() {
    dangerous_sockets found = find_dangerous_sockets();
    plan_.looked_at.insert(plan_.looked_at.end(), found.looked_at.begin(), found.looked_at.end());
    plan_.masked_sockets = std::move(found.sockets);
    plan_.masked_directories = std::move(found.directories);
    const auto is_hidden = [this](const std::string& each) {
      return directory_of(each, plan_.tmp_at) != nullptr && root_of(each) == nullptr;
    };
    std::erase_if(plan_.masked_sockets, is_hidden);
    std::erase_if(plan_.masked_directories, is_hidden);
  }

  const isolation_settings& settings_;
  const std::vector<std::string> given_;
  const logger& log_;
  std::vector<std::string> roots_;  ///< with those that lie below another
  std::vector<git_link> links_;
  std::vector<std::string> wanted_;  ///< to be protected, there or not
  isolation_plan plan_;
};

}  // namespace

isolation_plan make_isolation_plan(const isolation_settings& settings, std::vector<std::string> roots, std::string tmp,
                                   const logger& log) {
  return planning(settings, std::move(roots), log).run(std::move(tmp));
}

}  // namespace berth
