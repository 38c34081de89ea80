// SPDX-License-Identifier: Apache-2.0
import Cairn
import Foundation

/// Installs Cairn at the start of an app; call it once, first thing.
public func installCairn(appVersion: String) -> Bool {
    let folder = FileManager.default
        .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        .appendingPathComponent("cairn")
    try? FileManager.default.createDirectory(
        at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
    var config = cairn_config()
    cairn_config_init(&config)
    return folder.path.withCString { directory in
        appVersion.withCString { version in
            config.directory = directory
            config.app_version = version
            return cairn_install(&config) == CAIRN_OK
        }
    }
}

/// What the button of the example does.
public func crash() {
    UnsafeMutablePointer<Int>(bitPattern: 16)!.pointee = 1
}
