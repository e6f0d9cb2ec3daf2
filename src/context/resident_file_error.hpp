#pragma once
/// What a file verb of the resident says about its failure, as the error that a caller sees.

#include "berth/error.hpp"
#include "wire/file_verbs.hpp"

namespace berth {

/// The codes and words that files of this host have. Nothing of the place's own words is taken but the path, which is shown escaped.
error resident_file_error(const wire::file_failure_fields& failure);

}  // namespace berth
