#include "core/json.hpp"

#include <simdjson.h>

#include <algorithm>

namespace berth {
namespace {

namespace dom = simdjson::dom;

json convert(dom::element from);

json convert(dom::array from) {
  json_array items;
  items.reserve(from.size());
  for (const auto item : from) items.push_back(convert(item));
  return items;
}

json convert(dom::object from) {
  json_object members;
  for (const auto& [name, item] : from) members.append(std::string(name), convert(item));
  return members;
}

// The parser has checked the depth, so the recursion is bounded.
json convert(dom::element from) {
  switch (from.type()) {
    case dom::element_type::ARRAY:
      return convert(from.get_array().value_unsafe());
    case dom::element_type::OBJECT:
      return convert(from.get_object().value_unsafe());
    case dom::element_type::INT64:
      return from.get_int64().value_unsafe();
    case dom::element_type::UINT64:
      return from.get_uint64().value_unsafe();
    case dom::element_type::DOUBLE:
      return from.get_double().value_unsafe();
    case dom::element_type::STRING:
      return from.get_string().value_unsafe();
    case dom::element_type::BOOL:
      return from.get_bool().value_unsafe();
    default:
      return nullptr;
  }
}

[[noreturn]] void refuse(simdjson::error_code reason) {
  const bool bound = reason == simdjson::CAPACITY || reason == simdjson::DEPTH_ERROR;
  throw error(bound ? errc::limit_exceeded : errc::protocol, std::string("json: ") + simdjson::error_message(reason));
}

}  // namespace

json json::parse(std::string_view text, json_limits limits) {
  if (text.size() > limits.size) throw error(errc::limit_exceeded, "json: document too long");
  dom::parser parser;
  if (const auto failed = parser.allocate(std::max(text.size(), simdjson::SIMDJSON_PADDING), limits.depth))
    refuse(failed);
  const simdjson::padded_string padded(text);
  dom::element document;
  if (const auto failed = parser.parse(padded).get(document)) refuse(failed);
  return convert(document);
}

}  // namespace berth
