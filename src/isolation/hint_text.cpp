#include "isolation/hint_text.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <string>

namespace berth {
namespace {

constexpr std::string_view erofs_text = "Read-only file system";

struct sign {
  std::string_view text;
  meaning is;
};

constexpr sign at_end[] = {
    {erofs_text, meaning::read_only},
    {"Operation not permitted", meaning::refused},
    {"Permission denied", meaning::refused},
    {"Device or resource busy", meaning::busy},
    {"No such file or directory", meaning::missing},
    {": not found", meaning::missing},
    {"Network is unreachable", meaning::network},
    {"network is unreachable", meaning::network},
    {"Connection refused", meaning::refused_by_host},
    {"connection refused", meaning::refused_by_host},
    {"Couldn't connect to server", meaning::refused_by_host},
};
/// What runtimes and clients write where the text is not at the end of a line.
constexpr sign anywhere[] = {
    {"EROFS", meaning::read_only},
    {"(os error 30)", meaning::read_only},
    {"[Errno 30]", meaning::read_only},
    {"Read-only file system at ", meaning::read_only},  // perl
    {"ENOENT", meaning::missing},
    {"[Errno 2]", meaning::missing},
    {"Cannot find module ", meaning::missing},
    {"can't cd to ", meaning::missing},
    {"Could not resolve host", meaning::network},
    {"Temporary failure in name resolution", meaning::network},
    {"Name or service not known", meaning::network},
    {"EAI_AGAIN", meaning::network},
    {"ENOTFOUND", meaning::network},
    {"ENETUNREACH", meaning::network},
    {"[Errno 101]", meaning::network},
    {"(os error 101)", meaning::network},
    {"ECONNREFUSED", meaning::refused_by_host},
    {"[Errno 111]", meaning::refused_by_host},
    {"Failed to connect to ", meaning::refused_by_host},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c); }

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && has(" \r.)", line.substr(line.size() - 1))) line.remove_suffix(1);
  return line;
}

struct quotes {
  std::string_view open;
  std::string_view close;
};
constexpr quotes known_quotes[] = {{"\xe2\x80\x98", "\xe2\x80\x99"}, {"'", "'"}, {"\"", "\""}, {"`", "`"}, {"`", "'"}};

/// What stands in the first kind of quotes that the text has.
std::vector<std::string_view> quoted_in(std::string_view text) {
  std::vector<std::string_view> all;
  for (const quotes& each : known_quotes) {
    for (std::size_t at = 0; (at = text.find(each.open, at)) != text.npos;) {
      const bool is_apostrophe = at > 0 && is_letter(text[at - 1]);  // "can't"
      at += each.open.size();
      if (is_apostrophe) continue;
      const auto end = text.find(each.close, at);
      if (end == text.npos) break;
      if (end > at) all.push_back(text.substr(at, end - at));
      at = end + each.close.size();
    }
    if (!all.empty()) break;
  }
  return all;
}

/// The path in one part of a message: "/a b", "cannot create /a b", "../a"; empty if there is none.
std::string_view path_in(std::string_view part) {
  if (part.starts_with('/')) return part;
  const auto absolute = part.rfind(" /");
  if (absolute != part.npos) return part.substr(absolute + 1);
  const auto space = part.rfind(' ');
  const std::string_view word = space == part.npos ? part : part.substr(space + 1);
  return has(word, "/") ? word : std::string_view();
}

bool is_number(std::string_view word) { return !word.empty() && std::all_of(word.begin(), word.end(), is_digit); }

/// "1", "line 1"
bool is_line_number(std::string_view part) {
  if (part.starts_with("line ")) part.remove_prefix(5);
  return is_number(part);
}

/// Of "tar: /a/b: Cannot open: " the last part that has a path; without one, the last word. That of a shell is none:
/// "/bin/sh: 1: cannot create a".
std::vector<std::string_view> unquoted_in(std::string_view before) {
  before = trimmed(before, " :(");
  if (before.empty()) return {};
  for (std::string_view left = before, behind;;) {
    const auto colon = left.rfind(": ");
    const auto part = colon == left.npos ? left : trimmed(left.substr(colon + 2), " ");
    const bool is_shell = colon == left.npos && is_line_number(behind);
    if (const auto path = path_in(part); !path.empty() && !is_shell) return {path};
    if (colon == left.npos) break;
    behind = part;
    left = left.substr(0, colon);
  }
  const auto space = before.find_last_of(" :");
  return {space == before.npos ? before : before.substr(space + 1)};
}

/// What is quoted behind the sign ("[Errno 30] Read-only file system: 'X'") or before it ("cannot move 'X' to 'Y': "), or stands before
/// it ("cannot create X: ").
std::vector<std::string_view> subjects(std::string_view before, std::string_view after) {
  auto all = quoted_in(after);
  if (all.empty()) all = quoted_in(before);
  return all.empty() ? unquoted_in(before) : all;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    const auto word = trimmed(text.substr(at, end - at), "\"'()[],;:");
    if (!word.empty()) all.push_back(word);
    at = end + 1;
  }
  return all;
}

/// "127.0.0.1", with a port or without.
bool is_address(std::string_view word) {
  word = word.substr(0, word.find(':'));
  return std::count(word.begin(), word.end(), '.') == 3 && word.find_first_not_of(".0123456789") == word.npos;
}

bool has_port(std::string_view word) {
  const auto colon = word.rfind(':');
  return colon != word.npos && is_number(word.substr(colon + 1));
}

/// "127.0.0.1:1", "localhost", "port 1", "to db:1"; not "test.cpp:30".
bool names_host(std::string_view text) {
  std::string_view last;
  for (const std::string_view word : words_of(text)) {
    if (is_address(word) || word.starts_with("localhost") || word.starts_with("::1")) return true;
    if (last == "port" && is_number(word)) return true;
    const bool leads = last == "to" || last == "at" || last == "tcp" || last == "host" || last == "ECONNREFUSED";
    if (leads && has_port(word)) return true;
    last = word;
  }
  return false;
}

/// A client's own words, rather than those of a test that expects a refusal.
bool is_of_client(std::string_view line) {
  const std::string text = lower(line);
  if (has(text, "assert") || has(text, "expect")) return false;
  if (has(text, "/dev/tcp/")) return true;  // bash
  return (has(text, "connect to") || has(text, "connecting to") || has(text, "connection to") ||
          has(text, "connect econnrefused") || has(text, "dial tcp") || has(text, "dial udp")) &&
         names_host(line);
}

/// "listen EPERM: operation not permitted ./s.sock", "dial unix /run/x.sock: socket: operation not permitted". Other
/// sockets are refused too: "ping: socket: Operation not permitted" is none.
bool is_of_unix_socket(std::string_view line) {
  if (!has(line, "EPERM") && !has(line, "ermitted")) return false;  // nearly every line
  const std::string text = lower(line);
  if (has(text, "listen eperm") || has(text, "connect eperm")) return has(text, "/") || has(text, ".sock");
  if (!has(text, "operation not permitted")) return false;
  return has(text, "dial unix ") || has(text, "listen unix ") || has(text, "unix socket") ||
         has(text, "unix-domain socket") || has(text, "unix domain socket") || has(text, "af_unix");
}

reading with_sign(std::string_view line) {
  const std::string_view text = without_end(line);
  for (const sign& each : at_end) {
    if (text.ends_with(each.text)) return {each.is, subjects(text.substr(0, text.size() - each.text.size()), {})};
  }
  for (const sign& each : anywhere) {
    const auto at = line.find(each.text);
    if (at == line.npos) continue;
    std::string_view before = trimmed(line.substr(0, at), " ");
    const std::string_view after = line.substr(at + each.text.size());
    if (before.ends_with(erofs_text)) before.remove_suffix(erofs_text.size());
    if (each.text == "can't cd to ") return {each.is, {trimmed(after, " \r")}};
    return {each.is, subjects(before, after)};
  }
  return {};
}

/// "failed to create directory `/a`", where "Caused by:" follows.
reading without_sign(std::string_view line) {
  constexpr std::string_view writing = "error writing to the directory: ";
  const auto at = line.find(writing);
  if (at != line.npos) return {meaning::failed, {trimmed(line.substr(at + writing.size()), " \r")}};
  if (!has(line, "failed to ")) return {};
  auto named = quoted_in(line);
  if (named.empty()) named = unquoted_in(without_end(line));
  if (named.empty() || !named.front().starts_with('/')) return {};
  return {meaning::failed, std::move(named)};
}

}  // namespace

reading read_line(std::string_view line) {
  if (line.starts_with("[isolation]")) return {};
  if (is_of_unix_socket(line)) return {meaning::unix_socket};
  reading seen = with_sign(line);
  if (seen.is == meaning::nothing) return without_sign(line);
  if (seen.is == meaning::refused_by_host && !is_of_client(line)) return {};
  return seen;
}

}  // namespace berth
