// SPDX-License-Identifier: Apache-2.0
//
// One Mach-O image mapped into this process: segments at their slide, rebased
// and bound. A test-only loader for files that our own toolchain made: it
// checks what a mistake of the toolchain could break, not what an attacker
// could.
#ifndef MACH_HOST_IMAGE_H_
#define MACH_HOST_IMAGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mach_host {

struct Segment {
  std::string name;
  std::uint64_t address = 0;  // as linked, without the slide
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_size = 0;
  int protection =
      0;  // VM_PROT_READ 1, WRITE 2, EXECUTE 4: the same bits as PROT_*
};

struct Section {
  std::string segment, name;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t flags = 0;
};

// Finds what an imported name stands for; 0: nothing. The name has its leading
// `_`.
using Resolver =
    std::function<std::uint64_t(const std::string& name, bool weak)>;

class Image {
 public:
  // Maps `path` and rebases it. Throws std::runtime_error that says what is
  // wrong.
  explicit Image(const std::string& path);

  // Writes what `resolve` finds into every import; keeps the names for
  // ImportNames. Throws for a name that is neither found nor weak.
  void Bind(const Resolver& resolve);
  // Makes read-only what the file says is (`__DATA_CONST` too).
  void Protect();

  const std::string& path() const { return path_; }
  std::uint64_t slide() const { return slide_; }
  std::uint64_t header() const { return text_address_ + slide_; }
  std::uint64_t entry() const { return entry_; }  // 0: no LC_MAIN
  const std::string& uuid() const {
    return uuid_;
  }  // lower-case hex, no dashes
  bool chained() const { return chained_size_ != 0; }
  const std::vector<std::string>& imports() const { return imports_; }
  const std::vector<std::string>& libraries() const { return libraries_; }
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Segment>& segments() const { return segments_; }
  // The section's place in memory, or nullptr.
  const Section* FindSection(std::string_view segment,
                             std::string_view name) const;
  // Where a symbol of this image is (by LC_SYMTAB, external or not), or 0.
  std::uint64_t FindSymbol(std::string_view name) const;
  bool Contains(std::uint64_t address) const;
  // Initialisers in order: functions (argc, argv, envp, apple).
  std::vector<std::uint64_t> Initialisers() const;

 private:
  void ReadCommands();
  void Map();
  void RebaseClassic();
  void RunBindOpcodes(std::uint32_t offset,
                      std::uint32_t size,
                      bool lazy,
                      const Resolver& resolve);
  void WalkChains(const Resolver* resolve);
  std::uint64_t Resolve(const Resolver& resolve,
                        const std::string& name,
                        bool weak);
  std::uint64_t SegmentAddress(std::size_t index) const;
  void Store(std::uint64_t address, std::uint64_t value);

  std::string path_;
  std::vector<std::uint8_t> file_;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
  std::vector<std::string> libraries_;
  std::vector<std::string> imports_;
  std::string uuid_;
  std::uint64_t slide_ = 0, text_address_ = 0, entry_ = 0, entry_offset_ = 0;
  std::uint32_t rebase_offset_ = 0, rebase_size_ = 0, bind_offset_ = 0,
                bind_size_ = 0, weak_offset_ = 0, weak_size_ = 0,
                lazy_offset_ = 0, lazy_size_ = 0, chained_offset_ = 0,
                chained_size_ = 0, symbols_offset_ = 0, symbols_count_ = 0,
                strings_offset_ = 0, strings_size_ = 0;
};

}  // namespace mach_host

#endif  // MACH_HOST_IMAGE_H_
