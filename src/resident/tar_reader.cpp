#include "resident/tar.hpp"

namespace berth::resident {
namespace {

constexpr std::uint64_t largest = ~std::uint64_t{0} >> 1;

/// A field of text up to its first NUL.
std::string_view text_in(const char* field, std::size_t size) { return {field, strnlen(field, size)}; }

/// Octal digits between spaces and NULs, or GNU's binary; false for anything else, and for what is negative.
bool number_in(const char* field, std::size_t size, std::uint64_t& value) {
  value = 0;
  const auto first = static_cast<unsigned char>(field[0]);
  if (first >= 0x80) {
    if (first >= 0xc0) return false;
    value = first & 0x3fu;
    for (std::size_t i = 1; i < size; ++i) {
      if (value > largest >> 8) return false;
      value = value << 8 | static_cast<unsigned char>(field[i]);
    }
    return true;
  }
  std::size_t at = 0;
  while (at < size && (field[at] == ' ' || field[at] == '\0')) ++at;
  for (; at < size && field[at] >= '0' && field[at] <= '7'; ++at) {
    if (value > largest >> 3) return false;
    value = value << 3 | static_cast<std::uint64_t>(field[at] - '0');
  }
  while (at < size && (field[at] == ' ' || field[at] == '\0')) ++at;
  return at == size;
}

bool is_zero(const char* block) {
  for (std::size_t i = 0; i < tar_block; ++i) {
    if (block[i] != 0) return false;
  }
  return true;
}

/// Some programs have summed up signed bytes.
bool has_right_sum(const char* block) {
  std::uint64_t said = 0;
  if (!number_in(block + 148, 8, said)) return false;
  std::int64_t sum = 0, signed_sum = 0;
  for (std::size_t i = 0; i < tar_block; ++i) {
    const char byte = i >= 148 && i < 156 ? ' ' : block[i];
    sum += static_cast<unsigned char>(byte);
    signed_sum += static_cast<signed char>(byte);
  }
  return static_cast<std::int64_t>(said) == sum || static_cast<std::int64_t>(said) == signed_sum;
}

bool decimal(std::string_view& from, std::uint64_t& value) {
  std::size_t digits = 0;
  value = 0;
  for (; !from.empty() && from.front() >= '0' && from.front() <= '9'; from.remove_prefix(1), ++digits) {
    if (value > (largest - 9) / 10) return false;
    value = value * 10 + static_cast<std::uint64_t>(from.front() - '0');
  }
  return digits > 0;
}

/// "-12.25", of which digits behind the ninth are dropped.
bool time_in(std::string_view value, std::int64_t& seconds, std::uint32_t& nanoseconds) {
  const bool negative = value.starts_with('-');
  if (negative) value.remove_prefix(1);
  std::uint64_t whole = 0;
  if (!decimal(value, whole)) return false;
  seconds = static_cast<std::int64_t>(whole);
  nanoseconds = 0;
  if (value.starts_with('.')) {
    value.remove_prefix(1);
    std::uint32_t unit = 100000000;
    for (; !value.empty() && value.front() >= '0' && value.front() <= '9'; value.remove_prefix(1), unit /= 10)
      nanoseconds += unit * static_cast<std::uint32_t>(value.front() - '0');
  }
  if (negative) {
    seconds = -seconds - (nanoseconds > 0 ? 1 : 0);
    nanoseconds = nanoseconds > 0 ? 1000000000 - nanoseconds : 0;
  }
  return value.empty();
}

bool has_nul(std::string_view v) { return v.find('\0') != v.npos; }

}  // namespace

file_reason tar_reader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    file_reason wrong = file_reason::none;
    if (state_ == state::ended) {
      for (const char byte : bytes) {
        if (byte != 0) return file_reason::not_tar;
      }
      return file_reason::none;
    }
    const std::uint64_t wanted = state_ == state::header ? tar_block - have_ : left_;
    const std::size_t part = wanted < bytes.size() ? static_cast<std::size_t>(wanted) : bytes.size();
    const std::string_view piece = wire::part(bytes, 0, part);
    bytes.remove_prefix(part);
    if (state_ == state::header) {
      std::memcpy(block_ + have_, piece.data(), part);
      have_ += part;
      if (have_ == tar_block) wrong = on_header();
    } else {
      take_body(piece);
      left_ -= part;
      if (left_ == 0) wrong = on_body_end();
    }
    if (wrong != file_reason::none) return wrong;
  }
  return file_reason::none;
}

void tar_reader::take_body(std::string_view bytes) {
  if (state_ == state::content) to_.data(bytes);
  if (state_ == state::extension) next_.records.append(bytes);
}

/// What comes behind a body, or behind its padding; a body of nothing has ended, too.
file_reason tar_reader::on_body_end() {
  const state ended = state_;
  state_ = padding_ > 0 ? state::padding : state::header;
  left_ = padding_;
  padding_ = 0;
  have_ = 0;
  if (ended == state::content) to_.end();
  return ended == state::extension ? on_extension() : file_reason::none;
}

file_reason tar_reader::on_header() {
  if (is_zero(block_)) {
    state_ = state::ended;
    return file_reason::none;
  }
  std::uint64_t size = 0;
  if (!has_right_sum(block_) || !number_in(block_ + 124, 12, size)) return file_reason::not_tar;
  const char type = block_[156];
  const bool extends = type == 'x' || type == 'g' || type == 'X' || type == 'K' || type == 'L';
  return extends ? begin_extension(type, size) : begin_entry(type, size);
}

file_reason tar_reader::begin_extension(char type, std::uint64_t size) {
  if (size > most_extension) return file_reason::not_tar;
  next_.records.resize(0);
  extension_ = type;
  state_ = state::extension;
  left_ = size;
  padding_ = tar_padding(size);
  return left_ == 0 ? on_body_end() : file_reason::none;
}

void tar_reader::name_entry(tar_entry& entry) {
  const bool is_posix = std::memcmp(block_ + 257, "ustar\0", 6) == 0;
  path_.resize(0);
  if (is_posix && block_[345] != '\0') {
    path_.append(text_in(block_ + 345, 155));
    path_.append("/");
  }
  path_.append(text_in(block_, 100));
  link_.assign(text_in(block_ + 157, 100));
  if (next_.has_path) path_.assign(next_.path.view());
  if (next_.has_link) link_.assign(next_.link.view());
  entry.path = path_.c_str();
  entry.link = link_.c_str();
}

file_reason tar_reader::begin_entry(char type, std::uint64_t size) {
  tar_entry entry;
  std::uint64_t mode = 0, seconds = 0;
  if (!number_in(block_ + 100, 8, mode)) return file_reason::not_tar;
  if (type == 'S' || type == 'M' || type == 'D' || type == 'V') return file_reason::unknown_tar;
  name_entry(entry);
  entry.what = type >= '1' && type <= '6' ? static_cast<tar_entry::kind>(type) : tar_entry::file;
  if (type == '3' || type == '4') entry.what = tar_entry::special;
  if ((type == '0' || type == '\0') && path_.view().ends_with('/')) entry.what = tar_entry::directory;
  entry.mode = static_cast<std::uint32_t>(mode & 07777u);
  entry.has_time = next_.has_time || number_in(block_ + 136, 12, seconds);
  entry.seconds = next_.has_time ? next_.seconds : static_cast<std::int64_t>(seconds);
  entry.nanoseconds = next_.nanoseconds;
  const bool has_body = entry.what == tar_entry::file;
  if (has_body) entry.size = next_.has_size ? next_.size : size;
  next_ = extras();
  left_ = entry.size;
  padding_ = tar_padding(entry.size);
  state_ = state::content;
  to_.begin(entry);
  return left_ == 0 ? on_body_end() : file_reason::none;
}

file_reason tar_reader::on_extension() {
  std::string_view rest = next_.records.view();
  if (extension_ == 'g') return file_reason::none;
  if (extension_ == 'K' || extension_ == 'L') {
    const bool is_link = extension_ == 'K';
    (is_link ? next_.link : next_.path).assign(text_in(rest.data(), rest.size()));
    (is_link ? next_.has_link : next_.has_path) = true;
    return file_reason::none;
  }
  while (!rest.empty()) {
    std::string_view at = rest;
    std::uint64_t size = 0;
    if (!decimal(at, size) || size > rest.size() || !at.starts_with(' ')) return file_reason::not_tar;
    const std::size_t head = rest.size() - at.size() + 1;
    if (size < head + 2 || rest[size - 1] != '\n') return file_reason::not_tar;
    const std::string_view record = wire::part(rest, head, size - head - 1);
    const std::size_t equals = record.find('=');
    if (equals == record.npos) return file_reason::not_tar;
    const file_reason wrong = on_record(wire::part(record, 0, equals), wire::part(record, equals + 1));
    if (wrong != file_reason::none) return wrong;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  return file_reason::none;
}

file_reason tar_reader::on_record(std::string_view key, std::string_view value) {
  bool is_right = true;
  if (key == "path" || key == "linkpath") {
    const bool is_link = key == "linkpath";
    (is_link ? next_.link : next_.path).assign(value);
    (is_link ? next_.has_link : next_.has_path) = true;
    is_right = !has_nul(value);
  } else if (key == "size") {
    next_.has_size = true;
    is_right = decimal(value, next_.size) && value.empty();
  } else if (key == "mtime") {
    next_.has_time = true;
    is_right = time_in(value, next_.seconds, next_.nanoseconds);
  } else if (key.starts_with("GNU.sparse.")) {
    return file_reason::unknown_tar;
  }
  return is_right ? file_reason::none : file_reason::not_tar;
}

}  // namespace berth::resident
