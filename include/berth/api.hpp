#pragma once
/// What the library gives to others.

/// Marks what may be linked to; everything else stays inside the shared library.
#define BERTH_API __attribute__((visibility("default")))
