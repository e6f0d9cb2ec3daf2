#include "docker/image_reference.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace berth;

namespace {

const std::string digest = "sha256:" + std::string(64, 'a');

struct read_case {
  std::string text;
  image_reference is;
};

}  // namespace

TEST_CASE("image names: the parts, with Docker's defaults") {
  const read_case cases[] = {
      {"busybox", {"docker.io", "library/busybox", "latest", ""}},
      {"busybox:1.36", {"docker.io", "library/busybox", "1.36", ""}},
      {"oven/bun", {"docker.io", "oven/bun", "latest", ""}},
      {"docker.io/busybox", {"docker.io", "library/busybox", "latest", ""}},
      {"index.docker.io/oven/bun:1", {"docker.io", "oven/bun", "1", ""}},
      {"localhost/a", {"localhost", "a", "latest", ""}},
      {"localhost:5000/a/b:c", {"localhost:5000", "a/b", "c", ""}},
      {"127.0.0.1:5000/a", {"127.0.0.1:5000", "a", "latest", ""}},
      {"ghcr.io/Owner-is-lower/x", {}},
      {"ghcr.io/owner/x-y_z__w.v:T_1.0-b", {"ghcr.io", "owner/x-y_z__w.v", "T_1.0-b", ""}},
      {"a@" + digest, {"docker.io", "library/a", "", digest}},
      {"r.io:1/a:t@" + digest, {"r.io:1", "a", "t", digest}},
      {"[::1]:5000/a", {"[::1]:5000", "a", "latest", ""}},
  };
  for (const read_case& each : cases) {
    CAPTURE(each.text);
    if (each.is.registry.empty()) {
      CHECK_THROWS_AS((void)parse_image_reference(each.text), error);
    } else {
      CHECK(parse_image_reference(each.text) == each.is);
    }
  }
}

TEST_CASE("image names: a digest is pulled before a tag") {
  CHECK(parse_image_reference("a:t@" + digest).tag_or_digest() == digest);
  CHECK(parse_image_reference("a:t").tag_or_digest() == "t");
  CHECK(parse_image_reference("a:t").full_name() == "docker.io/library/a");
}

TEST_CASE("image names: what is none is refused by its cause") {
  for (const char* text : {"", "A", "a/B", "a:", "a:-t", "a:b:c", "a//b", "/a", "a/", "-a", "a-", "a..b", "a___b",
                           "a@sha256:12", "a@", "r.io:x/a", "a b", "a:\n", "http://a/b"}) {
    CAPTURE(text);
    try {
      (void)parse_image_reference(text);
      FAIL("was taken");
    } catch (const error& failure) {
      CHECK(failure.code() == errc::invalid_argument);
      CHECK(std::string(failure.what()).find("image") == 0);
    }
  }
}

TEST_CASE("image names: ids are known") {
  CHECK(is_image_id(digest));
  CHECK(is_image_id(std::string(64, '0')));
  CHECK_FALSE(is_image_id("busybox"));
  CHECK_FALSE(is_image_id("sha256:" + std::string(63, '0')));
}
