// SPDX-License-Identifier: Apache-2.0
//
// What each field of app, host, process, event, images, memory and trail means.
#include <algorithm>

#include "report/model_builder.h"
#include "report/model_grow.h"
#include "report/varint_reader.h"

namespace cairn::report {

using format::Field;

namespace {

// An enumeration's value as stored; one that does not fit becomes 255, which is
// no name's.
template <typename Enum>
Enum EnumOf(uint64_t number) {
  return static_cast<Enum>(std::min<uint64_t>(number, 255));
}

// Longer ones are cut at their start: each frame's print repeats them.
constexpr size_t kMaxPathBytes = 4096;

Value LastBytes(Value value, size_t limit) {
  if (value.bytes > limit) {
    value.data += value.bytes - limit;
    value.bytes = limit;
  }
  return value;
}

uint32_t Small(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, ~0u));
}

}  // namespace

void ModelBuilder::PutApp(const Value& value) {
  App& app = report_->app;
  if (value.field == Field::kAppId) {
    app.id = Text(value);
  } else if (value.field == Field::kAppVersion) {
    app.version = Text(value);
  } else if (value.field == Field::kAppBuild) {
    app.build = Text(value);
  } else if (value.field == Field::kAppEnvironment) {
    app.environment = Text(value);
  }
}

void ModelBuilder::PutHost(const Value& value) {
  Host& host = report_->host;
  switch (value.field) {
    case Field::kHostOs:
      host.os = Text(value);
      break;
    case Field::kHostKernel:
      host.kernel = Text(value);
      break;
    case Field::kHostCpu:
      host.cpu = Text(value);
      break;
    case Field::kHostCpuType:
      host.cpu_type = Text(value);
      break;
    case Field::kHostCores:
      host.cores = value.number;
      break;
    case Field::kHostMemoryBytes:
      host.memory_bytes = value.number;
      break;
    case Field::kHostPageBytes:
      host.page_bytes = value.number;
      break;
    default:
      break;
  }
}

void ModelBuilder::PutProcess(const Value& value) {
  Process& process = report_->process;
  switch (value.field) {
    case Field::kProcessId:
      process.pid = value.number;
      break;
    case Field::kProcessParentId:
      process.parent_pid = value.number;
      break;
    case Field::kProcessName:
      process.name = Text(value);
      break;
    case Field::kProcessPath:
      process.path = Text(value);
      break;
    case Field::kProcessArgument:
      if (Grow(&process.args, value.offset)) {
        process.args.back() = Text(value);
      }
      break;
    case Field::kProcessInstallTimeNs:
      process.install_time_ns = value.number;
      break;
    default:
      break;
  }
}

void ModelBuilder::PutEvent(const Value& value) {
  switch (value.field) {
    case Field::kEventKind:
      report_->kind = EnumOf<format::EventKind>(value.number);
      break;
    case Field::kEventTimeNs:
      report_->time_ns = value.number;
      break;
    case Field::kEventUptimeMs:
      report_->process.uptime_ms = value.number;
      break;
    case Field::kEventProcessId:
      event_pid_ = value.number;
      break;
    case Field::kEventMessage:
      report_->message = Text(value);
      break;
    case Field::kAbortMessage:
      report_->abort_message = Text(value);
      break;
    default:
      break;
  }
}

void ModelBuilder::PutSignal(const Value& value) {
  Signal& signal = *report_->signal;
  switch (value.field) {
    case Field::kSignalNumber:
      signal.number = Small(value.number);
      break;
    case Field::kSignalCode:
      signal.code = static_cast<int64_t>(value.number);
      break;
    case Field::kSignalErrno:
      signal.error = static_cast<int64_t>(value.number);
      break;
    case Field::kSignalFaultAddress:
      signal.fault_address = value.number;
      break;
    case Field::kSignalFaultKind:
      signal.fault_kind = EnumOf<format::FaultKind>(value.number);
      break;
    case Field::kSignalSenderPid:
      signal.sender_pid = value.number;
      break;
    case Field::kSignalSenderUid:
      signal.sender_uid = value.number;
      break;
    case Field::kSignalTrap:
      signal.trap = value.number;
      break;
    case Field::kSignalTrapError:
      signal.trap_error = value.number;
      break;
    case Field::kSignalSyscall:
      signal.syscall = static_cast<int64_t>(value.number);
      break;
    default:
      break;
  }
}

void ModelBuilder::PutMach(const Value& value) {
  MachException& mach = *report_->mach;
  if (value.field == Field::kMachException) {
    mach.exception = Small(value.number);
  } else if (value.field == Field::kMachCode) {
    mach.code = static_cast<int64_t>(value.number);
  } else if (value.field == Field::kMachSubcode) {
    mach.subcode = value.number;
  }
}

void ModelBuilder::PutException(const Value& value) {
  Exception& exception = *report_->exception;
  if (value.field == Field::kExceptionTypeMangled) {
    exception.type_mangled = Text(value);
  } else if (value.field == Field::kExceptionMessage) {
    exception.message = Text(value);
  }
}

void ModelBuilder::PutImage(const Value& value) {
  Image& image = report_->images.back();
  switch (value.field) {
    case Field::kImageAddress:
      image.address = value.number;
      break;
    case Field::kImageBytes:
      image.bytes = value.number;
      break;
    case Field::kImagePath:
      image.path = Text(LastBytes(value, kMaxPathBytes));
      break;
    case Field::kImageId:
      image.id = Bytes(value);
      break;
    case Field::kImageArchitecture:
      image.architecture = EnumOf<format::Architecture>(value.number);
      break;
    case Field::kImageSegments:
      PutSegments(value);
      break;
    case Field::kImageLinkBias:
      image.link_bias = static_cast<int64_t>(value.number);
      break;
    case Field::kImageIdIsDerived:
      image.id_is_derived = value.number != 0;
      break;
    default:
      break;
  }
}

void ModelBuilder::PutSegments(const Value& value) {
  std::vector<Segment>& segments = report_->images.back().segments;
  VarintReader in(value.data, value.bytes);
  uint64_t offset = 0, bytes = 0, flags = 0;
  segments.clear();
  while (!in.AtEnd()) {
    if (!in.Next(&offset) || !in.Next(&bytes) || !in.Next(&flags)) {
      problems_->Add(value.offset, "an image's list of segments is cut");
      return;
    }
    if (!Grow(&segments, value.offset)) {
      return;
    }
    segments.back() = {offset, bytes, Small(flags)};
  }
}

void ModelBuilder::PutMemory(const Value& value) {
  Memory& memory = report_->memory.back();
  if (value.field == Field::kMemoryAddress) {
    memory.address = value.number;
  } else if (value.field == Field::kMemoryBytes) {
    memory.bytes = Bytes(value);
  } else if (value.field == Field::kMemoryReason) {
    memory.reason = Text(value);
  }
}

void ModelBuilder::PutKey(const Value& value) {
  auto& [name, text] = report_->keys.back();
  if (value.field == Field::kKeyName) {
    name = Text(value);
  } else if (value.field == Field::kKeyValue) {
    text = Text(value);
  }
}

void ModelBuilder::PutBreadcrumb(const Value& value) {
  Breadcrumb& breadcrumb = report_->breadcrumbs.back();
  if (value.field == Field::kBreadcrumbTimeNs) {
    breadcrumb.time_ns = value.number;
  } else if (value.field == Field::kBreadcrumbMessage) {
    breadcrumb.message = Text(value);
  } else if (value.field == Field::kBreadcrumbCategory) {
    breadcrumb.category = Text(value);
  }
}

void ModelBuilder::PutCut(const Value& value) {
  Cut& cut = report_->cuts.back();
  if (value.field == Field::kCutWhat) {
    cut.what = EnumOf<format::CutWhat>(value.number);
  } else if (value.field == Field::kCutKept) {
    cut.kept = value.number;
  } else if (value.field == Field::kCutDropped) {
    cut.dropped = value.number;
  } else if (value.field == Field::kCutThreadId) {
    cut.thread_id = value.number;
  }
}

void ModelBuilder::PutStage(const Value& value) {
  Stage& stage = report_->stages.back();
  switch (value.field) {
    case Field::kStageDone:
      stage.done = Small(value.number);
      break;
    case Field::kStageFreeze:
      stage.freeze = EnumOf<format::FrozenBy>(value.number);
      break;
    case Field::kStageErrno:
      stage.error = static_cast<int64_t>(value.number);
      break;
    case Field::kStageElapsedNs:
      stage.elapsed_ns = value.number;
      break;
    case Field::kStageTimedOut:
      stage.timed_out = value.number != 0;
      break;
    default:
      break;
  }
}

}  // namespace cairn::report
