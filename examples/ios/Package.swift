// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0
//
// Cairn in a Swift package. Cairn.xcframework is made beforehand by
// examples/ios/make_xcframework on a Mac.
import PackageDescription

let package = Package(
    name: "CrashButton",
    platforms: [.iOS(.v14), .macOS(.v11)],
    products: [.library(name: "CrashButton", targets: ["CrashButton"])],
    targets: [
        .binaryTarget(name: "Cairn", path: "Cairn.xcframework"),
        .target(
            name: "CrashButton",
            dependencies: ["Cairn"],
            linkerSettings: [.linkedLibrary("c++")]),
    ]
)
