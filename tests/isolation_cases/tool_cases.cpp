/// Real tools with the network denied; case 56 among them.
#include "isolation_cases/case_site.hpp"

#include <berth/output_log.hpp>

#include <cstdlib>
#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

/// With HOME in the root, as an application does that keeps the user's own out of reach.
task<void> run_tool(asio::io_context& io, const case_site& site, std::string text, std::string wanted) {
  fs::remove_all(site.root() + "/.git");
  auto [place, where] = co_await open_site(io, site);
  const exec_result got =
      co_await place.exec(where, command("set -e\n" + text).env("HOME", site.root()).merge_stderr().timeout(100s));
  CAPTURE(got.std_out);
  CAPTURE(describe(got.status));
  CHECK(got.ok());
  CHECK(got.std_out.find(wanted) != std::string::npos);
  co_await place.destroy(where);
}

void tool_case(const char* name, const char* program, const std::string& text, const std::string& wanted) {
  if (lacks(name, program)) return;
  const case_site site;
  const auto body = [&](asio::io_context& io) { return run_tool(io, site, text, wanted); };
  run_async(body, 120s);
}

TEST_CASE("isolation 56: git init and commit") {
  tool_case("isolation 56", "/usr/bin/git",
            "git init -q .; git add attempt.py; git -c user.name=a -c user.email=a@b commit -q -m one; "
            "git log --oneline | wc -l; git status --porcelain | head -3",
            "1\n");
}

TEST_CASE("isolation, tools: node starts processes") {
  tool_case("node", "/usr/bin/node",
            "node -e 'const c = require(\"child_process\"); console.log(c.execSync(\"echo from sh\").toString());"
            "c.spawn(\"cat\", [\"/dev/null\"]).on(\"close\", code => console.log(\"closed\", code));"
            "c.fork(\"f.js\").on(\"message\", m => console.log(\"message\", m))' "
            "|| true; echo 'process.send(\"hi\")' >f.js; node -e 'require(\"child_process\").fork(\"f.js\")"
            ".on(\"message\", m => console.log(\"message\", m))'",
            "message hi");
}

TEST_CASE("isolation, tools: python multiprocessing") {
  tool_case("multiprocessing", "/usr/bin/python3",
            "cat >m.py <<'X'\nimport multiprocessing as m\ndef f(x): return x * x\nif __name__ == '__main__':\n"
            "    for how in ('fork', 'spawn'):\n"
            "        with m.get_context(how).Pool(3) as pool: print(how, sum(pool.map(f, range(10))))\n"
            "    q = m.Queue(); p = m.Process(target=q.put, args=(7,)); p.start(); print('queue', q.get()); p.join()\n"
            "X\n/usr/bin/python3 m.py",
            "fork 285\nspawn 285\nqueue 7");
}

TEST_CASE("isolation, tools: cc and make") {
  if (lacks("cc and make", "/usr/bin/cc")) return;
  tool_case("cc and make", "/usr/bin/make",
            "printf 'all: a\\n\\t./a\\na: a.o\\n\\tcc -o a a.o\\na.o: a.c\\n\\tcc -c a.c\\n' >Makefile\n"
            "printf '#include <stdio.h>\\nint main(void) { puts(\"built\"); }\\n' >a.c\nmake -j2",
            "built");
}

TEST_CASE("isolation, tools: pytest") {
  tool_case(
      "pytest", "/usr/bin/pytest-3",
      "printf 'def test_a(tmp_path):\\n    (tmp_path / \"x\").write_text(\"y\")\\n' >test_a.py\npytest-3 -q test_a.py",
      "1 passed");
}

TEST_CASE("isolation, tools: npm installs a local folder") {
  tool_case("npm", "/usr/bin/npm",
            "mkdir dep; echo '{\"name\":\"dep\",\"version\":\"1.0.0\"}' >dep/package.json; "
            "echo 'module.exports = \"from dep\"' >dep/index.js; "
            "echo '{\"name\":\"app\",\"version\":\"1.0.0\"}' >package.json; "
            "npm install --no-audit --no-fund ./dep; node -e 'console.log(require(\"dep\"))'",
            "from dep");
}

ASYNC_TEST_FOR("isolation, tools: a server in one command and its client in the next", case_patience) {
  if (lacks("a server and its client", "/usr/bin/python3")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  background serving = co_await place.exec_background(
      where, command("exec /usr/bin/python3 -u -m http.server --bind 127.0.0.1 8731").merge_stderr());
  const auto ready = co_await serving.wait_for_output("Serving HTTP", case_patience / 2);
  CHECK(ready.has_value());
  const exec_result got =
      co_await place.exec(where, command("/usr/bin/python3 -c 'import urllib.request as u; "
                                         "print(u.urlopen(\"http://127.0.0.1:8731/.git/config\").read())'"));
  CHECK(got.std_out == "b'old'\n");
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
