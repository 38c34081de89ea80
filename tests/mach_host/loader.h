// SPDX-License-Identifier: Apache-2.0
//
// Which code is the program's, and libSystem as an image in memory.
#ifndef MACH_HOST_LOADER_H_
#define MACH_HOST_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "image.h"

namespace mach_host {

// Loads the program and the libraries beside it that it names (`@rpath/…`,
// `@executable_path/…`), binds them, and puts a made libSystem before them.
// Throws std::runtime_error.
void LoadProgram(const std::string& path);
Image& Program();
// Runs initialisers, then LC_MAIN's function; does not return.
[[noreturn]] void RunProgram(int argc, char** argv, char** environment);

// Whether an address is code or data of a loaded Mach-O file.
bool InProgram(std::uint64_t address);
// Whether it is one of libSystem's stubs.
bool InSystem(std::uint64_t address);
// The address inside libSystem that stands for "in a system call".
std::uint64_t SystemCallAddress();

// What dyld tells of images: the program first, as dyld does.
struct LoadedImage {
  std::string path;
  std::uint64_t header = 0, slide = 0;
};
const std::vector<LoadedImage>& LoadedImages();
std::uint64_t FindExported(const std::string& name);  // in the program's images
// Loads a Mach-O library at run time; its index in LoadedImages, or -1.
int OpenLibrary(const std::string& path);

}  // namespace mach_host

#endif  // MACH_HOST_LOADER_H_
