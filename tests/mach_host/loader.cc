// SPDX-License-Identifier: Apache-2.0
#include "loader.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

#include "kernel/exceptions.h"
#include "shim_table.h"
#include "system_image.h"
#include "thread_variables.h"
#include "unwind_tables.h"
#include "violations.h"

namespace mach_host {
namespace {

std::vector<std::unique_ptr<Image>>& Images() {
  static auto* images = new std::vector<std::unique_ptr<Image>>;
  return *images;
}

SystemImage& System() {
  static auto* system = new SystemImage;
  return *system;
}

std::uint64_t Resolve(const std::string& name, bool weak) {
  if (const std::uint64_t own = FindExported(name); own != 0)
    return own;
  const Shim shim = FindShim(name);
  if (shim.data)
    return shim.address;
  if (shim.address != 0)
    return System().Stub(name, shim.address);
  // Target 0: on_call.cc says the function's name when it is called, not
  // before.
  return weak ? 0 : System().Stub(name, 0);
}

std::string Directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// A library that the program brings itself, or nothing for the system's.
std::string OwnLibrary(const std::string& name, const std::string& directory) {
  for (const char* prefix : {"@rpath/", "@executable_path/", "@loader_path/"}) {
    if (name.rfind(prefix, 0) != 0)
      continue;
    const std::string file = name.substr(std::strlen(prefix));
    for (const std::string& folder : {directory + "/", directory + "/../lib/"})
      if (access((folder + file).c_str(), R_OK) == 0)
        return folder + file;
  }
  return {};
}

void LoadWithLibraries(const std::string& path) {
  auto image = std::make_unique<Image>(path);
  const std::vector<std::string> libraries = image->libraries();
  Images().push_back(std::move(image));
  for (const std::string& name : libraries) {
    const std::string file = OwnLibrary(name, Directory(path));
    if (file.empty())
      continue;
    bool known = false;
    for (const auto& loaded : Images())
      known = known || loaded->path() == file;
    if (!known)
      LoadWithLibraries(file);
  }
}

void Finish(Image& image) {
  image.Bind(Resolve);
  PrepareThreadVariables(image);
  image.Protect();
  RegisterUnwindTables(image);
}

std::vector<LoadedImage>& Loaded() {
  static auto* loaded = new std::vector<LoadedImage>;
  return *loaded;
}

}  // namespace

Image& Program() {
  return *Images().front();
}

void LoadProgram(const std::string& path) {
  char* whole = realpath(path.c_str(), nullptr);
  if (whole == nullptr)
    throw std::runtime_error(path + ": no such file");
  LoadWithLibraries(whole);
  std::free(whole);
  for (auto& image : Images())
    Finish(*image);
  System().Finish();
  for (auto& image : Images())
    Loaded().push_back({image->path(), image->header(), image->slide()});
  Loaded().push_back(
      {"/usr/lib/libSystem.B.dylib", System().header(), System().header()});
  Verdict("uuid", Program().uuid().c_str());
  Verdict("fixups", Program().chained() ? "chained" : "classic");
  for (const std::string& name : Program().imports())
    Verdict("import", name.c_str());
}

void RunProgram(int argc, char** argv, char** environment) {
  std::string first = "executable_path=" + Program().path();
  char* apple[] = {first.data(), nullptr};
  using Initialiser = void (*)(int, char**, char**, char**);
  for (auto image = Images().rbegin(); image != Images().rend(); ++image)
    for (const std::uint64_t function : (*image)->Initialisers())
      reinterpret_cast<Initialiser>(function)(argc, argv, environment, apple);
  using Main = int (*)(int, char**, char**, char**);
  if (Program().entry() == 0)
    throw std::runtime_error(Program().path() + ": no LC_MAIN");
  const int code =
      reinterpret_cast<Main>(Program().entry())(argc, argv, environment, apple);
  std::exit(code);
}

bool InProgram(std::uint64_t address) {
  for (const auto& image : Images())
    if (image->Contains(address))
      return true;
  return false;
}

bool InSystem(std::uint64_t address) {
  return System().Contains(address);
}
std::uint64_t SystemCallAddress() {
  return System().call_address();
}
const std::vector<LoadedImage>& LoadedImages() {
  return Loaded();
}

std::uint64_t FindExported(const std::string& name) {
  for (const auto& image : Images())
    if (const std::uint64_t found = image->FindSymbol(name); found != 0)
      return found;
  return 0;
}

int OpenLibrary(const std::string& path) {
  for (std::size_t i = 0; i < Loaded().size(); ++i)
    if (Loaded()[i].path == path)
      return static_cast<int>(i);
  try {
    auto image = std::make_unique<Image>(path);
    Images().push_back(std::move(image));
    Finish(*Images().back());
  } catch (const std::exception&) {
    return -1;
  }
  Image& image = *Images().back();
  Loaded().push_back({path, image.header(), image.slide()});
  using Initialiser = void (*)(int, char**, char**, char**);
  for (const std::uint64_t function : image.Initialisers())
    reinterpret_cast<Initialiser>(function)(0, nullptr, nullptr, nullptr);
  return static_cast<int>(Loaded().size()) - 1;
}

}  // namespace mach_host
