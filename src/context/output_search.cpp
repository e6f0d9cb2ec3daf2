// Of libstdc++: how large an automaton may be. A larger one takes its time for each byte, and is walked by recursion.
#define _GLIBCXX_REGEX_STATE_LIMIT 2000

#include "context/output_search.hpp"

#include <berth/error.hpp>

#include <algorithm>
#include <locale>
#include <regex>
#include <utility>

namespace berth {
namespace {

std::vector<std::size_t> fallbacks(const std::string& text) {
  std::vector<std::size_t> all(text.size(), 0);
  std::size_t matched = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    while (matched > 0 && text[i] != text[matched]) matched = all[matched - 1];
    if (text[i] == text[matched]) ++matched;
    all[i] = matched;
  }
  return all;
}

// libstdc++ has a matcher that does not recurse along the text and has no exponential cases. It knows no back references.
#ifdef __GLIBCXX__
constexpr auto syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto syntax = std::regex::ECMAScript;
#endif

/// Of our own, so that the limit holds for what is made with them here and for nothing else in the program.
struct line_traits : std::regex_traits<char> {};
using line_regex = std::basic_regex<char, line_traits>;

/// Look-ahead runs to the end of the line from each byte, and nested once more for each of those.
bool looks_ahead(std::string_view text) {
  bool in_brackets = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\') {
      ++at;
    } else if (in_brackets) {
      in_brackets = c != ']';
    } else if (c == '[') {
      in_brackets = true;
    } else if (c == '(' && (text.substr(at + 1).starts_with("?=") || text.substr(at + 1).starts_with("?!"))) {
      return true;
    }
  }
  return false;
}

line_regex compiled(const std::string& text) {
  if (looks_ahead(text)) throw error(errc::invalid_argument, "output_pattern: the regular expression looks ahead");
  try {
    line_regex made;
    made.imbue(std::locale::classic());
    made.assign(text, syntax);
    return made;
  } catch (const std::regex_error& caught) {
    const std::string why = caught.what();
    throw error(errc::invalid_argument, "output_pattern: the regular expression cannot be used: " + why);
  }
}

}  // namespace

/// A regular expression, and where it matches in a line. regex_search tries every beginning anew, which takes the square of the
/// line; one match that may begin anywhere does not. It says whether, not where: that is narrowed down afterwards.
class line_expression {
 public:
  explicit line_expression(const std::string& text)
      : exact_(compiled(text)), anywhere_(compiled("([^]*?)(?:" + text + ")")) {}

  /// The match that ends first, and then as long as it can be.
  std::optional<std::string_view> find(std::string_view line) const {
    std::cmatch where;
    if (!occurs(line, line.size(), where)) return std::nullopt;
    std::size_t end = line.size();
    for (std::size_t low = 0; low < end;) {
      const std::size_t middle = (low + end) / 2;
      if (occurs(line, middle, where)) {
        end = middle;
      } else {
        low = middle + 1;
      }
    }
    // Of those that end here the matcher gives the one that begins first.
    if (!occurs(line, end, where)) return std::nullopt;
    const auto begin = static_cast<std::size_t>(where.length(1));
    std::cmatch longest;
    const flags after = begin > 0 ? std::regex_constants::match_prev_avail : std::regex_constants::match_default;
    const bool again = std::regex_search(line.data() + begin, line.data() + line.size(), longest, exact_,
                                         std::regex_constants::match_continuous | after);
    return line.substr(begin, again ? static_cast<std::size_t>(longest.length()) : end - begin);
  }

 private:
  using flags = std::regex_constants::match_flag_type;

  bool occurs(std::string_view line, std::size_t end, std::cmatch& where) const {
    flags how = std::regex_constants::match_continuous;
    if (end < line.size()) how |= std::regex_constants::match_not_eol | std::regex_constants::match_not_eow;
    return std::regex_search(line.data(), line.data() + end, where, anywhere_, how);
  }

  line_regex exact_;
  line_regex anywhere_;
};

output_search::output_search(const output_pattern& what) {
  if (what.is_regex()) {
    expression_ = std::make_shared<const line_expression>(what.text());
    return;
  }
  text_ = what.text();
  fallback_ = fallbacks(text_);
  if (text_.empty()) match_.emplace();
}

void output_search::forget() noexcept {
  matched_ = 0;
  line_.clear();
  rest_seen_ = false;
}

std::size_t output_search::take(std::string_view bytes, std::uint64_t offset) {
  if (match_ || bytes.empty()) return 0;
  if (offset != next_) forget();
  next_ = offset;
  const std::size_t taken = expression_ ? take_line(bytes) : take_text(bytes);
  next_ += taken;
  return taken;
}

std::size_t output_search::take_text(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (matched_ == 0) {
      at = std::min(bytes.find(text_.front(), at), bytes.size());
      if (at == bytes.size()) break;
    }
    while (matched_ > 0 && bytes[at] != text_[matched_]) matched_ = fallback_[matched_ - 1];
    if (bytes[at] == text_[matched_]) ++matched_;
    ++at;
    if (matched_ < text_.size()) continue;
    match_ = found{next_ + at - text_.size(), text_};
    break;
  }
  return at;
}

std::size_t output_search::take_line(std::string_view bytes) {
  if (line_.empty()) line_offset_ = next_;
  const std::size_t end = bytes.find('\n');
  const std::string_view part = bytes.substr(0, end);
  const std::size_t room = output_pattern::line_limit - line_.size();
  line_.append(part.substr(0, room));
  rest_seen_ = rest_seen_ && part.empty();
  if (end == bytes.npos) return bytes.size();
  look_at_line();
  line_.clear();
  rest_seen_ = false;
  return end + 1;
}

void output_search::look_at_rest() {
  if (match_ || rest() == 0) return;
  look_at_line();
  rest_seen_ = true;
}

void output_search::look_at_line() {
  // Terminals, and not only they, end their lines with two characters.
  const bool two = !line_.empty() && line_.back() == '\r';
  const std::string_view line(line_.data(), line_.size() - (two ? 1 : 0));
  const auto where = expression_->find(line);
  if (!where) return;
  const auto skipped = static_cast<std::uint64_t>(where->data() - line.data());
  match_ = found{line_offset_ + skipped, std::string(*where)};
}

}  // namespace berth
