#include "core/json.hpp"

#include "core/text.hpp"

// Boost.JSON as headers: its code is compiled here and nowhere else.
#include <boost/json/src.hpp>

#include <cmath>

namespace berth {
namespace {

boost::json::string valid(const std::string& text) {
  return is_utf8(text) ? boost::json::string(text) : boost::json::string(to_text(text));
}

struct converter {
  boost::json::value operator()(std::nullptr_t) const { return nullptr; }
  boost::json::value operator()(bool truth) const { return truth; }
  boost::json::value operator()(std::int64_t number) const { return number; }

  // An integral number is written as one: readers in other languages refuse 1E0 for an integer.
  boost::json::value operator()(double number) const {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(number)) return nullptr;
    if (std::abs(number) < exact && std::trunc(number) == number) return static_cast<std::int64_t>(number);
    return number;
  }

  boost::json::value operator()(const std::string& text) const { return valid(text); }

  boost::json::value operator()(const json_array& from) const {
    boost::json::array items;
    items.reserve(from.size());
    for (const auto& item : from) items.push_back(std::visit(*this, item.get()));
    return items;
  }

  boost::json::value operator()(const json_object& from) const {
    boost::json::object members;
    members.reserve(from.size());
    for (const auto& [name, item] : from) members.insert_or_assign(valid(name), std::visit(*this, item.get()));
    return members;
  }
};

}  // namespace

std::string json::dump() const { return boost::json::serialize(std::visit(converter(), value_)); }

}  // namespace berth
