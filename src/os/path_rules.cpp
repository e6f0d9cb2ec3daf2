#include "os/path_rules.hpp"

#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "os/file_failure.hpp"
#include "os/open_beneath.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace berth {
namespace {

/// By its real path: a link on the way is an error.
unique_fd open_real(const std::string& path) {
  unique_fd above(check_file(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)));
  const auto slash = path.rfind('/');
  if (slash > 0) above = open_directory_without_links(above.get(), path.substr(1, slash - 1).c_str());
  const auto name = path.size() > 1 ? path.substr(slash + 1) : ".";
  unique_fd fd(above ? ::openat(above.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1);
  if (!fd) throw file_failure(errno, shown_path(path));
  return fd;
}

[[noreturn]] void refuse(const std::string& why) { throw error(make_error_code(errc::permission_denied), why); }

[[noreturn]] void refuse_to_move() { refuse("it is a writable root, or holds one, and stays where it is"); }

}  // namespace

std::string path_below(const std::string& directory, const std::string& name) {
  return directory + (directory.ends_with('/') ? "" : "/") + name;
}

ruled_places::ruled_places(path_rules rules)
    : protected_(std::move(rules.protected_paths)),
      kept_(std::move(rules.kept)),
      held_(std::move(rules.held)),
      advice_(std::move(rules.advice)) {
  for (path_rules::place& each : rules.places) {
    place one{std::move(each.seen_at), open_real(each.real), true, each.is_writable};
    struct stat found {};
    check_file(::fstat(one.fd.get(), &found));
    if (S_ISLNK(found.st_mode)) throw file_failure(ELOOP, shown_path(each.real));
    one.is_directory = S_ISDIR(found.st_mode);
    places_.push_back(std::move(one));
  }
  const auto inner = [](const place& left, const place& right) { return left.path.size() > right.path.size(); };
  std::stable_sort(places_.begin(), places_.end(), inner);
  for (const std::string& each : protected_) {
    struct stat found {};
    if (::stat(each.c_str(), &found) == 0) protected_files_.emplace_back(found.st_dev, found.st_ino);
  }
}

ruled_places ruled_places::refusing(const std::string& why) const {
  ruled_places same;
  for (const place& each : places_) {
    unique_fd again(check_file(::fcntl(each.fd.get(), F_DUPFD_CLOEXEC, 0)));
    same.places_.push_back({each.path, std::move(again), each.is_directory, each.is_writable});
  }
  same.protected_ = protected_;
  same.kept_ = kept_;
  same.held_ = held_;
  same.protected_files_ = protected_files_;
  same.advice_ = advice_;
  same.refusal_ = why;
  return same;
}

const ruled_places::place* ruled_places::at(std::string_view path) const noexcept {
  for (const place& each : places_) {
    if (each.path == path) return &each;
  }
  return nullptr;
}

const ruled_places::place* ruled_places::around(std::string_view path) const noexcept {
  for (const place& each : places_) {
    if (is_at_or_below(path, each.path)) return &each;
  }
  return nullptr;
}

bool ruled_places::is_plain(const place& one) const noexcept {
  const auto lies_in_it = [&one](const place& each) { return &each != &one && is_at_or_below(each.path, one.path); };
  return std::none_of(places_.begin(), places_.end(), lies_in_it);
}

bool ruled_places::is_protected(const struct stat& found) const noexcept {
  const auto is_it = [&found](const auto& each) { return each.first == found.st_dev && each.second == found.st_ino; };
  return std::any_of(protected_files_.begin(), protected_files_.end(), is_it);
}

void ruled_places::refuse_protected() { refuse("it is protected (isolation.protected_paths)"); }

void ruled_places::check_change(const std::string& path) const {
  if (!refusal_.empty()) refuse(refusal_);
  if (empty()) return;
  const place* const holder = around(path);
  if (holder == nullptr || !holder->is_writable) refuse("it lies outside of what may be written: " + advice_);
  const auto holds = [&path](const std::string& each) { return is_at_or_below(path, each); };
  if (std::any_of(protected_.begin(), protected_.end(), holds)) refuse_protected();
  if (std::find(kept_.begin(), kept_.end(), path) != kept_.end()) refuse_to_move();
}

void ruled_places::check_leaving(const std::string& path) const {
  check_change(path);
  const auto is_in_it = [&path](const std::string& each) { return is_at_or_below(each, path); };
  if (std::any_of(protected_.begin(), protected_.end(), is_in_it))
    refuse("it holds what is protected (isolation.protected_paths)");
  const auto is_place_in_it = [&path](const place& each) { return is_at_or_below(each.path, path); };
  const bool holds_place = std::any_of(places_.begin(), places_.end(), is_place_in_it);
  const auto holds_one_of = [&is_in_it](const auto& all) { return std::any_of(all.begin(), all.end(), is_in_it); };
  if (holds_place || holds_one_of(kept_) || holds_one_of(held_)) refuse_to_move();
}

}  // namespace berth
