#pragma once
/// Variables of this process.

#include <cstdlib>
#include <optional>
#include <string>

namespace berth::test {

/// It has another value for as long as this lives.
class variable_is {
 public:
  variable_is(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  variable_is(const variable_is&) = delete;
  variable_is& operator=(const variable_is&) = delete;
  ~variable_is() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace berth::test
