#include "http/proxy.hpp"

#include "berth/error.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace berth::http {
namespace {

using variables = std::map<std::string, std::string>;

proxy_rules rules_of(const variables& all) {
  return proxy_rules::from([&](const char* name) {
    const auto found = all.find(name);
    return found == all.end() ? std::optional<std::string>() : std::optional<std::string>(found->second);
  });
}

std::string chosen(const proxy_rules& rules, std::string_view target) {
  const url* proxy = rules.choose(parse_url(target));
  return proxy == nullptr ? "none" : proxy->shown();
}

TEST_CASE("proxy: by scheme, lower case first, all_proxy for the rest") {
  const auto rules = rules_of({{"http_proxy", "p:1"}, {"HTTP_PROXY", "http://q:1"}, {"HTTPS_PROXY", "https://p:2/"}});
  CHECK(chosen(rules, "http://h/") == "http://p:1/");
  CHECK(chosen(rules, "tcp://h:2375") == "http://p:1/");
  CHECK(chosen(rules, "https://h/") == "https://p:2/");
  CHECK(chosen(rules, "unix:///x") == "none");
  const auto all = rules_of({{"ALL_PROXY", "p:3"}, {"https_proxy", ""}});
  CHECK(chosen(all, "http://h/") == "http://p:3/");
  CHECK(chosen(all, "https://h/") == "http://p:3/");
  CHECK(chosen(rules_of({}), "http://h/") == "none");
}

TEST_CASE("proxy: HTTP_PROXY is what a client sent where REQUEST_METHOD is set") {
  CHECK(chosen(rules_of({{"HTTP_PROXY", "p:1"}, {"REQUEST_METHOD", "GET"}}), "http://h/") == "none");
  CHECK(chosen(rules_of({{"http_proxy", "p:1"}, {"REQUEST_METHOD", "GET"}}), "http://h/") == "http://p:1/");
}

TEST_CASE("proxy: no_proxy has names, domains, ports, addresses and networks") {
  const auto rules = rules_of(
      {{"http_proxy", "p:1"},
       {"no_proxy", "a.com, .b.com,*.c.com,d.com:81 ,10.0.0.0/8,192.168.1.1,[fd00::1]:80,2001:db8::/32, ,E.com"}});
  for (const std::string target :
       {"http://a.com/", "http://x.a.com/", "http://x.b.com/", "http://x.c.com", "http://d.com:81/", "http://10.1.2.3/",
        "http://192.168.1.1/", "http://[fd00::1]/", "http://[2001:db8::5]/", "http://e.com/", "http://localhost/",
        "http://127.0.0.2/", "http://[::1]/"}) {
    CAPTURE(target);
    CHECK(chosen(rules, target) == "none");
  }
  for (const std::string target : {"http://xa.com/", "http://b.com/", "http://d.com/", "http://11.1.2.3/",
                                   "http://192.168.1.10/", "http://[2001:db9::5]/", "http://com/"}) {
    CAPTURE(target);
    CHECK(chosen(rules, target) == "http://p:1/");
  }
  CHECK(chosen(rules_of({{"http_proxy", "p:1"}, {"NO_PROXY", "*"}}), "http://h/") == "none");
}

TEST_CASE("proxy: one that cannot be is named by its variable, without its value") {
  const auto refusal = [](const variables& all) {
    try {
      (void)rules_of(all);
    } catch (const error& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  CHECK(refusal({{"https_proxy", "http://u:hidden@ho st"}}).starts_with("https_proxy"));
  CHECK(refusal({{"https_proxy", "http://u:hidden@ho st"}}).find("hidden") == std::string::npos);
  CHECK(refusal({{"all_proxy", "socks5://hidden"}}) == "all_proxy: socks proxies are not supported: not supported");
  CHECK(refusal({{"http_proxy", "ssh://x"}}).starts_with("http_proxy"));
  CHECK(refusal({{"HTTP_PROXY", "ssh://x"}}).starts_with("HTTP_PROXY"));
  CHECK(refusal({{"HTTPS_PROXY", "ssh://x"}}).starts_with("HTTPS_PROXY"));
  CHECK(refusal({{"ALL_PROXY", "socks5://hidden"}}).starts_with("ALL_PROXY"));
  CHECK(refusal({{"no_proxy", "socks"}}).empty());
}

TEST_CASE("proxy: the account of its URL") {
  CHECK(proxy_authorization(parse_url("http://me:p%40w@p:1")) == "Basic bWU6cEB3");
  CHECK_FALSE(proxy_authorization(parse_url("http://p:1")).has_value());
}

}  // namespace
}  // namespace berth::http
