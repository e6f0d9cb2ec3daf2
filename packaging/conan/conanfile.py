"""Not tried: see packaging/README.md. Builds the checkout that it lies in."""

import pathlib

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain


class Berth(ConanFile):
    name = "berth"
    version = "0.1.0"
    description = "Places where commands run and files live, behind one asynchronous interface"
    license = "MIT"
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    # Asio's headers are part of ours.
    requires = (
        "asio/1.28.2",
        "boost/1.84.0",
        "cli11/2.4.1",
        "fmt/10.2.1",
        "libarchive/3.7.4",
        "simdjson/3.9.3",
        "xxhash/0.8.2",
    )
    tool_requires = "meson/1.4.0", "pkgconf/2.1.0"

    def export_sources(self):
        checkout = pathlib.Path(self.recipe_folder).parents[1]
        for pattern in ("meson*", "LICENSE", "cmake/*", "include/*", "share/*", "src/*", "bench/*", "subprojects/*.wrap"):
            copy(self, pattern, checkout, self.export_sources_folder)

    def layout(self):
        basic_layout(self, src_folder=".")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("berth runs on Linux only")

    def generate(self):
        PkgConfigDeps(self).generate()
        toolchain = MesonToolchain(self)
        toolchain.project_options["tests"] = "false"
        toolchain.project_options["examples"] = "false"
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        Meson(self).install()
        copy(self, "LICENSE", self.source_folder, str(pathlib.Path(self.package_folder) / "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["berth"]
        self.cpp_info.defines = ["ASIO_STANDALONE", "ASIO_SEPARATE_COMPILATION", "ASIO_DISABLE_STD_ALIGNED_ALLOC"]
        self.cpp_info.system_libs = ["pthread"]
        self.cpp_info.set_property("cmake_target_name", "berth::berth")
