#include "context/watch_batch.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace berth;

namespace {

std::string shown(watch_batch& batch) {
  std::string all;
  for (const auto& each : batch.take()) all += std::string(to_string(each.kind())) + " " + each.path() + ";";
  return all;
}

}  // namespace

TEST_CASE("watch batch: each path once, in the order of first change") {
  watch_batch batch;
  for (const char* path : {"b", "a", "b", "a"}) batch.add(watch_event(watch_kind::modified, path));
  CHECK(shown(batch) == "modified b;modified a;");
  CHECK(batch.empty());
}

TEST_CASE("watch batch: what counts is before and after") {
  watch_batch batch;
  batch.add({{watch_kind::created, "new"}, {watch_kind::modified, "new"}});
  batch.add({{watch_kind::created, "temporary"}, {watch_kind::removed, "temporary"}});
  batch.add({{watch_kind::removed, "replaced"}, {watch_kind::created, "replaced"}});
  batch.add({{watch_kind::modified, "gone"}, {watch_kind::removed, "gone"}});
  CHECK(shown(batch) == "created new;modified replaced;removed gone;");
}

TEST_CASE("watch batch: an overflow is the only news") {
  watch_batch batch;
  batch.add(watch_event(watch_kind::created, "a"));
  batch.add(watch_event(watch_kind::overflow, ""));
  batch.add(watch_event(watch_kind::created, "b"));
  CHECK(shown(batch) == "overflow ;");
  for (std::size_t i = 0; i <= watch_batch::most_paths; ++i)
    batch.add(watch_event(watch_kind::created, std::to_string(i)));
  CHECK(shown(batch) == "overflow ;");
}
