#include "isolation/seatbelt.hpp"

#include "isolation/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace berth;
using namespace berth::test;

namespace {

using words = std::vector<std::string>;

/// The profile as it is, then the other words.
std::string shown(const isolation_plan& plan) {
  auto all = seatbelt_arguments(plan, {"/bin/sh", "-c", "--", "true"});
  REQUIRE(all.size() > 3);
  const std::string profile = all[2];
  all[2] = "PROFILE";
  return profile + "\n" + shown_words(all);
}

isolation_plan with_roots(words roots) {
  isolation_plan plan;
  plan.roots = std::move(roots);
  return plan;
}

isolation_plan repository() {
  isolation_plan plan = with_roots({"/w/repo", "/cache"});
  plan.pinned = {"/w/repo/.git"};
  plan.protected_paths = {"/w/repo/.git/hooks", "/w/repo/.git/config"};
  plan.tmp = "/private/tmp/own";
  return plan;
}

/// The names of the parameters that a profile uses.
std::set<std::string> used(const std::string& profile) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = profile.find("(param \"", at)) != profile.npos;) {
    at += 8;
    names.insert(profile.substr(at, profile.find('"', at) - at));
  }
  return names;
}

void check_form(const isolation_plan& plan) {
  const std::string profile = seatbelt_profile(plan);
  int depth = 0;
  for (const char c : profile) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    REQUIRE(depth >= 0);
  }
  // The regular expressions are balanced in themselves.
  CHECK(depth == 0);
  std::set<std::string> given;
  for (const std::string& word : seatbelt_arguments(plan, {"true"})) {
    if (word.starts_with("-D")) given.insert(word.substr(2, word.find('=') - 2));
  }
  CHECK(given == used(profile));
  for (const auto& list : {plan.roots, plan.pinned, plan.protected_paths}) {
    for (const std::string& path : list) CHECK(profile.find(path) == profile.npos);
  }
}

}  // namespace

TEST_CASE("seatbelt: no root and no network is the base profile alone") {
  const isolation_plan plan;
  CHECK(shown(plan) == golden("seatbelt_none.txt", shown(plan)));
  check_form(plan);
}

TEST_CASE("seatbelt: one root, network allowed") {
  isolation_plan plan = with_roots({"/w"});
  plan.network = access_rule::allow;
  CHECK(shown(plan) == golden("seatbelt_network.txt", shown(plan)));
  check_form(plan);
}

TEST_CASE("seatbelt: two roots, a private /tmp, a repository with protected paths") {
  CHECK(shown(repository()) == golden("seatbelt_repository.txt", shown(repository())));
  check_form(repository());
}

TEST_CASE("seatbelt: unix sockets allowed, but for some") {
  isolation_plan plan = with_roots({"/w"});
  plan.masked_sockets = {"/var/run/docker.sock"};
  plan.masked_directories = {"/private/tmp/agent"};
  CHECK(seatbelt_profile(plan) == seatbelt_profile(with_roots({"/w"})));
  plan.unix_sockets = access_rule::allow;
  CHECK(shown(plan) == golden("seatbelt_unix_sockets.txt", shown(plan)));
  check_form(plan);
}

TEST_CASE("seatbelt: whatever is in a path, it is one word and no part of the profile") {
  const words strange{"/w/a\"b",         "/w/a\\b",
                      "/w/a b",          "/w/a\nb",
                      "/w/\xc3\xa9\xff", "/w/a)(allow default)",
                      "/w/=-D=x=",       "/w/'$(touch x)`'",
                      "/w/#\"^/.*\"",    "/w/" + std::string(2000, 'x')};
  const isolation_plan plan = with_roots(strange);
  check_form(plan);
  const words all = seatbelt_arguments(plan, {"true"});
  for (std::size_t i = 0; i < strange.size(); ++i) {
    CHECK(all[3 + i] == "-DROOT_" + std::to_string(i) + "=" + strange[i]);
  }
  CHECK(words(all.end() - 2, all.end()) == words{"--", "true"});
}

TEST_CASE("seatbelt: a protected path takes from its own root only") {
  const std::string profile = seatbelt_profile(repository());
  const auto rule_of = [&profile](const std::string& name) {
    const auto at = profile.find("(allow file-write* (require-all (subpath (param \"" + name + "\"))");
    REQUIRE(at != profile.npos);
    return profile.substr(at, profile.find("\n(", at) - at);
  };
  CHECK(rule_of("ROOT_0").find("PROTECTED_1") != std::string::npos);
  CHECK(rule_of("ROOT_1").find("PROTECTED") == std::string::npos);
}
