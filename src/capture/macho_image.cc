// SPDX-License-Identifier: Apache-2.0
//
// The flow: FillMachOImage reads the header, then each load command through a
// CommandWindow; segments first give linked addresses, which Move turns into
// run-time ones once the segment that holds the header has told the slide.
#include "capture/macho_image.h"

#include "format/macho_format.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

namespace macho = format::macho;

constexpr uint64_t kNarrowMask = 0xffffffff;

// A window of 512 bytes that moves over the load commands.
class CommandWindow {
 public:
  CommandWindow(const safe::MemoryReader& memory, uint64_t low, uint64_t high)
      : memory_(memory), low_(low), high_(high) {}

  // Copies [address, address + bytes) when it lies within the commands.
  bool Read(uint64_t address, void* out, size_t bytes) {
    if (address < low_ || address > high_ || high_ - address < bytes ||
        bytes > sizeof(buffer_)) {
      return false;
    }
    if (address < at_ || address + bytes > at_ + held_) {
      const uint64_t left = high_ - address;
      at_ = address;
      held_ = memory_.ReadSome(
          address, buffer_, left < sizeof(buffer_) ? left : sizeof(buffer_));
      if (held_ < bytes) {
        held_ = 0;
        return false;
      }
    }
    safe::Copy(out, buffer_ + (address - at_), bytes);
    return true;
  }
  template <typename T>
  bool ReadValue(uint64_t address, T* out) {
    return Read(address, out, sizeof(T));
  }

 private:
  const safe::MemoryReader& memory_;
  const uint64_t low_;
  const uint64_t high_;
  uint64_t at_ = 0;
  size_t held_ = 0;
  uint8_t buffer_[512];
};

template <size_t kBytes>
bool IsName(const char (&field)[16], const char (&name)[kBytes]) {
  static_assert(kBytes <= sizeof(field));
  return safe::Equal(field, name, kBytes);
}

uint32_t FlagsOf(uint32_t protection) {
  return ((protection & macho::kProtectRead) != 0 ? kSegmentRead : 0u) |
         ((protection & macho::kProtectWrite) != 0 ? kSegmentWrite : 0u) |
         ((protection & macho::kProtectExecute) != 0 ? kSegmentExecute : 0u);
}

// One segment or section, of either width.
struct Range {
  uint64_t address;
  uint64_t bytes;
};

class Reader {
 public:
  Reader(const safe::MemoryReader& memory,
         uint64_t header,
         const macho::Header32& raw,
         MachOFacts* facts,
         Image* image)
      : wide_(raw.magic == macho::kMagic64),
        header_(header),
        first_(header +
               (wide_ ? sizeof(macho::Header64) : sizeof(macho::Header32))),
        end_(first_ + raw.sizeofcmds),
        commands_(raw.ncmds),
        window_(memory, first_, end_),
        facts_(facts),
        image_(image) {}

  // False when nothing tells the slide.
  bool Run() {
    facts_->whole = ReadCommands();
    if (!has_base_ || image_->segment_count == 0) {
      return false;
    }
    Move();
    return true;
  }

 private:
  bool ReadCommands() {
    uint64_t at = first_;
    for (uint32_t i = 0; i < commands_; ++i) {
      macho::LoadCommand command;
      if (i == kMaxLoadCommands || !window_.ReadValue(at, &command) ||
          command.cmdsize < sizeof(command) || command.cmdsize % 4 != 0 ||
          command.cmdsize > end_ - at || !ReadCommand(at, command)) {
        return false;
      }
      at += command.cmdsize;
    }
    return true;
  }

  bool ReadCommand(uint64_t at, const macho::LoadCommand& command) {
    switch (command.cmd) {
      case macho::kCommandSegment32:
        return wide_ || ReadSegment<macho::Segment32, macho::Section32>(
                            at, command.cmdsize);
      case macho::kCommandSegment64:
        return !wide_ || ReadSegment<macho::Segment64, macho::Section64>(
                             at, command.cmdsize);
      case macho::kCommandUuid:
        return ReadUuid(at, command.cmdsize);
      case macho::kCommandIdDylib:
        return ReadInstallName(at, command.cmdsize);
      case macho::kCommandBuildVersion:
        return ReadBuildVersion(at, command.cmdsize);
      default:
        return true;
    }
  }

  template <typename Segment, typename Section>
  bool ReadSegment(uint64_t at, uint32_t bytes) {
    Segment segment;
    if (bytes < sizeof(segment) || !window_.ReadValue(at, &segment)) {
      return false;
    }
    AddSegment({segment.vmaddr, segment.vmsize},
               segment.initprot,
               segment.filesize != 0,
               segment.segname);
    NoteBase(segment.vmaddr,
             segment.fileoff == 0 && segment.filesize != 0,
             IsName(segment.segname, "__TEXT"));
    const bool text = IsName(segment.segname, "__TEXT");
    const bool data = IsName(segment.segname, "__DATA");
    const bool dirty = IsName(segment.segname, "__DATA_DIRTY");
    if (!text && !data && !dirty) {
      return true;
    }
    for (uint32_t i = 0; i < segment.nsects; ++i) {
      const uint64_t offset = sizeof(Segment) + uint64_t{i} * sizeof(Section);
      Section section;
      if (offset + sizeof(Section) > bytes ||
          !window_.ReadValue(at + offset, &section)) {
        return false;
      }
      NoteSection(section.sectname, {section.addr, section.size}, text, data);
    }
    return true;
  }

  void AddSegment(const Range& range,
                  uint32_t protection,
                  bool in_file,
                  const char (&name)[16]) {
    const bool reserve = protection == 0 && !in_file;
    const bool shared = (facts_->flags & macho::kFlagInSharedCache) != 0 &&
                        IsName(name, "__LINKEDIT");
    const uint64_t last = range.address + range.bytes - 1;
    if (range.bytes == 0 || last < range.address || reserve || shared ||
        IsName(name, "__PAGEZERO")) {
      return;
    }
    const ImageSegment segment = {
        range.address, range.bytes, FlagsOf(protection), 0};
    if (image_->segment_count < kMaxImageSegments) {
      image_->segments[image_->segment_count++] = segment;
      return;
    }
    if ((segment.flags & kSegmentExecute) == 0) {
      return;
    }
    for (uint32_t i = kMaxImageSegments; i > 0; --i) {
      if ((image_->segments[i - 1].flags & kSegmentExecute) == 0) {
        image_->segments[i - 1] = segment;
        return;
      }
    }
  }

  // __TEXT begins with the header. In the shared cache its file offset is that
  // in the cache; elsewhere a segment of another name may hold offset 0.
  void NoteBase(uint64_t address, bool begins_file, bool is_text) {
    if (is_text || (begins_file && !has_base_)) {
      base_ = address;
      has_base_ = true;
    }
  }

  void NoteSection(const char (&name)[16],
                   const Range& range,
                   bool text,
                   bool data) {
    if (text && IsName(name, "__unwind_info")) {
      image_->unwind_info = range.address;
      image_->unwind_info_bytes = range.bytes;
    } else if (text && IsName(name, "__eh_frame")) {
      image_->eh_frame = range.address;
      image_->eh_frame_bytes = range.bytes;
    } else if (!text && IsName(name, "__crash_info") &&
               (data || image_->crash_info_bytes == 0)) {
      image_->crash_info = range.address;
      image_->crash_info_bytes = range.bytes;
    }
  }

  bool ReadUuid(uint64_t at, uint32_t bytes) {
    macho::Uuid command;
    if (bytes < sizeof(command) || !window_.ReadValue(at, &command)) {
      return false;
    }
    safe::Copy(image_->id, command.uuid, sizeof(command.uuid));
    image_->id_bytes = sizeof(command.uuid);
    image_->id_address = at + offsetof(macho::Uuid, uuid);
    return true;
  }

  bool ReadInstallName(uint64_t at, uint32_t bytes) {
    macho::Dylib command;
    if (bytes < sizeof(command) || !window_.ReadValue(at, &command)) {
      return false;
    }
    if (command.name >= sizeof(command) && command.name < bytes) {
      facts_->install_name = at + command.name;
      facts_->install_name_end = at + bytes;
    }
    return true;
  }

  bool ReadBuildVersion(uint64_t at, uint32_t bytes) {
    macho::BuildVersion command;
    if (bytes < sizeof(command) || !window_.ReadValue(at, &command)) {
      return false;
    }
    facts_->platform = command.platform;
    facts_->minimum_os = command.minos;
    facts_->sdk = command.sdk;
    return true;
  }

  uint64_t Moved(uint64_t address) const {
    const uint64_t moved = address + facts_->slide;
    return wide_ ? moved : moved & kNarrowMask;
  }

  // Linked addresses become run-time ones.
  void Move() {
    facts_->slide = header_ - base_;
    uint64_t low = ~uint64_t{0};
    uint64_t high = 0;
    for (uint32_t i = 0; i < image_->segment_count; ++i) {
      ImageSegment& segment = image_->segments[i];
      segment.address = Moved(segment.address);
      const uint64_t last = segment.address + (segment.bytes - 1);
      low = segment.address < low ? segment.address : low;
      high = last > high ? last : high;
    }
    image_->address = low;
    image_->bytes = high - low + 1;
    image_->link_bias = facts_->slide;
    MoveRange(&image_->unwind_info, &image_->unwind_info_bytes);
    MoveRange(&image_->eh_frame, &image_->eh_frame_bytes);
    MoveRange(&image_->crash_info, &image_->crash_info_bytes);
  }

  // A section that is empty, or does not lie in a segment, is none.
  void MoveRange(uint64_t* address, uint64_t* bytes) {
    const uint64_t moved = Moved(*address);
    for (uint32_t i = 0; i < image_->segment_count && *bytes != 0; ++i) {
      const ImageSegment& segment = image_->segments[i];
      const uint64_t offset = moved - segment.address;
      if (offset < segment.bytes && *bytes <= segment.bytes - offset) {
        *address = moved;
        return;
      }
    }
    *address = 0;
    *bytes = 0;
  }

  const bool wide_;
  const uint64_t header_;
  const uint64_t first_;
  const uint64_t end_;
  const uint32_t commands_;
  CommandWindow window_;
  MachOFacts* facts_;
  Image* image_;
  uint64_t base_ = 0;
  bool has_base_ = false;
};

}  // namespace

bool FillMachOImage(const safe::MemoryReader& memory,
                    uint64_t header,
                    MachOFacts* facts,
                    Image* image) {
  safe::Fill(facts, 0, sizeof(*facts));
  safe::Fill(image, 0, sizeof(*image));
  macho::Header32 raw;
  if (!memory.ReadValue(header, &raw) ||
      (raw.magic != macho::kMagic32 && raw.magic != macho::kMagic64) ||
      raw.sizeofcmds > kMaxCommandBytes ||
      header > ~uint64_t{0} - 2 * uint64_t{kMaxCommandBytes}) {
    return false;
  }
  facts->cpu_type = raw.cputype;
  facts->cpu_subtype = raw.cpusubtype;
  facts->file_type = raw.filetype;
  facts->flags = raw.flags;
  facts->pointer_bytes = raw.magic == macho::kMagic64 ? 8 : 4;
  image->header = header;
  image->cpu_type = raw.cputype;
  image->cpu_subtype = raw.cpusubtype;
  if (Reader(memory, header, raw, facts, image).Run()) {
    return true;
  }
  safe::Fill(image, 0, sizeof(*image));
  return false;
}

bool FillMachImage(const safe::MemoryReader& memory,
                   uint64_t header,
                   Image* image) {
  MachOFacts facts;
  return FillMachOImage(memory, header, &facts, image);
}

uint64_t CrashInfoMessage(const safe::MemoryReader& memory,
                          const Image& image,
                          bool second) {
  // version, message, signature, backtrace, message2: 8 bytes each.
  const uint64_t offset = second ? 32 : 8;
  uint64_t message = 0;
  if (image.crash_info == 0 || image.crash_info_bytes < offset + 8 ||
      !memory.ReadValue(image.crash_info + offset, &message)) {
    return 0;
  }
  return message;
}

}  // namespace cairn::capture
