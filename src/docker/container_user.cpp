#include "docker/container_user.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "docker/archive_reader.hpp"

#include <charconv>
#include <utility>
#include <vector>

namespace berth {
namespace {

constexpr std::size_t longest_file = 1U << 20U;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || number < 0) return std::nullopt;
  return number;
}

std::string_view take_until(std::string_view& text, char sign) {
  const auto at = text.find(sign);
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return front;
}

/// The fields of the line whose name, or else number (the third field), that is.
std::vector<std::string_view> line_of(std::string_view table, std::string_view name) {
  constexpr std::size_t least_fields = 3;
  std::vector<std::string_view> by_number;
  while (!table.empty()) {
    std::string_view line = take_until(table, '\n');
    std::vector<std::string_view> fields;
    while (!line.empty()) fields.push_back(take_until(line, ':'));
    if (fields.size() < least_fields) continue;
    if (fields[0] == name) return fields;
    if (fields[2] == name && by_number.empty()) by_number = std::move(fields);
  }
  return by_number;
}

/// Empty where there is none.
task<std::string> text_in(container box, std::string path) {
  std::string tar;
  try {
    tar = co_await box.download(std::move(path), longest_file);
  } catch (const error& failure) {
    if (failure.code() != errc::not_found) throw;
    co_return std::string();
  }
  archive_reader reader(std::move(tar));
  archived_entry entry;
  co_return reader.next(entry) && entry.type == file_type::regular ? reader.content() : std::string();
}

}  // namespace

std::optional<container_user> read_container_user(std::string_view wanted, std::string_view passwd,
                                                  std::string_view groups) {
  std::string_view group = wanted;
  const std::string_view name = take_until(group, ':');
  container_user found;
  const auto user = line_of(passwd, name);
  constexpr std::size_t group_field = 3;
  if (!user.empty()) {
    found.user = number_in(user[2]).value_or(0);
    if (user.size() > group_field) found.group = number_in(user[group_field]).value_or(0);
  } else if (const auto number = number_in(name)) {
    found.user = *number;
  } else if (!name.empty()) {
    return std::nullopt;
  }
  if (group.empty()) return found;
  const auto line = line_of(groups, group);
  const auto number = number_in(line.empty() ? group : line[2]);
  if (!number) return std::nullopt;
  found.group = *number;
  return found;
}

task<container_user> find_container_user(container box, std::string wanted) {
  if (wanted.empty()) {
    const std::optional<json> all = co_await box.inspect();
    if (all) wanted = (*all)["Config"]["User"].text();
  }
  if (wanted.empty()) co_return container_user();
  const std::string passwd = co_await text_in(box, "/etc/passwd");
  const std::string groups = co_await text_in(box, "/etc/group");
  const auto found = read_container_user(wanted, passwd, groups);
  if (!found) throw error(make_error_code(errc::not_found), "the container has no user or group " + shown_path(wanted));
  co_return *found;
}

}  // namespace berth
