#include <berth/output_log.hpp>

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace berth;

TEST_CASE("output_log: what a reader left behind is told as a gap") {
  output_log log(4);
  log.append("abc");
  CHECK(log.read(0, 100).bytes() == "abc");
  log.append("def");
  const log_piece late = log.read(1, 100);
  CHECK(late.bytes() == "cdef");
  CHECK(late.offset() == 2);
  CHECK(late.gap() == 1);
  CHECK(late.next() == 6);
  CHECK_FALSE(late.ended());
  CHECK(log.tail(2).bytes() == "ef");
  CHECK(log.read(50, 10).offset() == 6);
  CHECK(log.read(50, 10).bytes().empty());
  log.end();
  CHECK_FALSE(log.read(2, 3).ended());
  CHECK(log.read(2, 4).ended());
  CHECK(log.read(6, 4).ended());
}

TEST_CASE("output_log: a limit of 0 keeps nothing and counts") {
  output_log log(0);
  log.append("abc");
  CHECK(log.total() == 3);
  CHECK(log.begin() == 3);
  CHECK(log.read(0, 10).gap() == 3);
  CHECK(log.tail(10).bytes().empty());
}

TEST_CASE("output_log: any pieces and any reads give the bytes of the stream") {
  std::mt19937 random(7);
  for (const std::size_t limit : {1u, 7u, 512u, 513u, 5000u}) {
    output_log log(limit);
    std::string all;
    for (int round = 0; round < 400; ++round) {
      std::string piece(random() % 900, 'x');
      for (char& each : piece) each = static_cast<char>(random());
      all += piece;
      log.append(piece);
      const std::uint64_t offset = random() % (all.size() + 2);
      const log_piece seen = log.read(offset, random() % 2000);
      REQUIRE(log.total() == all.size());
      REQUIRE(log.begin() == all.size() - std::min(all.size(), limit));
      REQUIRE(all.substr(seen.offset(), seen.bytes().size()) == seen.bytes());
      REQUIRE(seen.gap() == (offset < log.begin() ? log.begin() - offset : 0));
    }
  }
}
