#pragma once
/// Names of images.

#include <string>
#include <string_view>

namespace berth {

/// What the parts of a name mean; the defaults of Docker are filled in.
struct image_reference {
  std::string registry;    ///< host, with a port where it has one; "docker.io" where the name has none
  std::string repository;  ///< without the registry; "library/busybox" for "busybox"
  std::string tag;         ///< "latest" where the name has neither tag nor digest
  std::string digest;      ///< "sha256:..." or empty

  bool operator==(const image_reference&) const = default;

  /// What a pull asks for: the name with its registry, so that no daemon guesses one, ...
  std::string full_name() const { return registry + "/" + repository; }
  /// ... and which of its images.
  const std::string& tag_or_digest() const noexcept { return digest.empty() ? tag : digest; }
};

/// Reads "busybox", "oven/bun:1.2", "localhost:5000/a/b@sha256:...". The first part is a registry if it holds a dot or a colon or is
/// "localhost", as everywhere in Docker.
/// Errors: invalid_argument saying what is wrong, for upper-case letters in the repository too.
image_reference parse_image_reference(std::string_view text);

/// "sha256:" and 64 hexadecimal digits, or these alone: it names a local image, and cannot be pulled.
bool is_image_id(std::string_view text) noexcept;

}  // namespace berth
