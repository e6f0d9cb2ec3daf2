#pragma once
/// The lines of `berth ls`: values in, text out, no I/O.

#include <berth/files.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

struct line_style {
  bool long_form = false;
  bool json = false;
  /// Lines end with NUL in place of a newline.
  bool ends_with_nul = false;
  /// Names that a terminal cannot show as they are (control characters, no UTF-8) are quoted and escaped.
  bool for_terminal = false;
};

/// A line for each entry. Every path gets the prefix before it.
std::vector<std::string> file_lines(const std::vector<file_info>& entries, std::string_view prefix, line_style style);

/// "-rw-r--r--", as ls has it; "?" for what is neither file, directory nor link.
std::string mode_text(const file_info& of);

/// "2026-01-02T03:04:05Z", in UTC.
std::string time_text(file_info::time_point when);

}  // namespace berth::cli
