#include "sample_report.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <string>

using namespace berth::bench;
using namespace berth::test;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string page() {
  return to_html(sample_report(
      {sample_result("a/floor", "", around(100)), sample_result("a/host", "a/floor", around(150)),
       sample_result("c/curve-1", "", around(10)), sample_result("c/curve-16", "", around(20)),
       sample_result("c/curve-256", "", around(30)), sample_result("<b>", "", around(1)), sample_result("e", "", {})}));
}

/// Elements that are opened and not closed, or closed and not opened.
std::string unbalanced(const std::string& html) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z0-9]+)([^>]*)>");
  const std::string empty = " meta circle line rect path ";
  for (std::sregex_iterator at(html.begin(), html.end(), tag), end; at != end; ++at) {
    const std::string name = (*at)[2];
    if (empty.find(' ' + name + ' ') != std::string::npos) continue;
    if ((*at)[1].length() == 0) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "/" + name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

}  // namespace

TEST_CASE("to_html: one page that needs no other file") {
  const auto html = page();
  CHECK(html.starts_with("<!DOCTYPE html>"));
  for (const char* outside : {"http:", "https:", "<script", "<link", "<img", "@import", "src="}) {
    CAPTURE(outside);
    CHECK(html.find(outside) == std::string::npos);
  }
  CHECK(unbalanced(html) == "");
}

TEST_CASE("to_html: a plot for each distribution, ratio and curve") {
  const auto html = page();
  CHECK(count(html, "<svg class=\"strip\" height=\"58\"") == 3);  // a/floor, a/host, <b>
  CHECK(count(html, "<svg class=\"strip\" height=\"30\"") == 1);
  CHECK(count(html, "<svg class=\"strip\" height=\"20\"") == 1);
  CHECK(count(html, "<svg class=\"curve\"") == 1);
  CHECK(count(html, "class=\"one\"") == 1);
  CHECK(count(html, "<tr><td>") == 7);
  CHECK(html.find("no samples") != std::string::npos);
}

TEST_CASE("to_html: readable without colour, light and dark, narrow and wide") {
  const auto html = page();
  CHECK(html.find("class=\"hollow\"") != std::string::npos);  // the base
  CHECK(html.find("class=\"ratio missed\"") != std::string::npos);
  CHECK(html.find("MISSED 1.2") != std::string::npos);
  CHECK(html.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(html.find("max-width: 44rem") != std::string::npos);
  CHECK(html.find("width=device-width") != std::string::npos);
}

TEST_CASE("to_svg: a bar for each ratio, in one picture that needs no other file") {
  auto missed = sample_result("a/<host>", "a/floor", around(150));
  const auto svg = to_svg(sample_report({sample_result("a/floor", "", around(100)), missed}));
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(unbalanced(svg) == "");
  CHECK(count(svg, "<rect class=\"missed\"") == 1);
  CHECK(svg.find("a/&lt;host&gt; <tspan class=\"quiet\">to a/floor</tspan>") != std::string::npos);
  CHECK(svg.find(">1.50</text>") != std::string::npos);
  CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(unbalanced(to_svg(report())) == "");
}

TEST_CASE("to_html: a limit of p99 is told beside it") {
  auto limited = sample_result("a", "", around(100));
  limited.limit = 90;
  CHECK(to_html(sample_report({limited})).find("MISSED 90") != std::string::npos);
}

TEST_CASE("to_html: names are text") {
  const auto html = page();
  CHECK(html.find("&lt;b&gt;") != std::string::npos);
  CHECK(html.find("A &lt;processor&gt;") != std::string::npos);
  CHECK(html.find("<b><b>") == std::string::npos);
}

TEST_CASE("to_html: an empty report and one with changes") {
  CHECK(unbalanced(to_html(report())) == "");
  const auto before = sample_report({sample_result("a", "", around(100))});
  const auto now = sample_report({sample_result("a", "", around(200))});
  const auto html = to_html(now, compare(before, now));
  CHECK(html.find("<span class=\"worse\">worse</span>") != std::string::npos);
  CHECK(unbalanced(html) == "");
}
