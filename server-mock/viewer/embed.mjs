// SPDX-License-Identifier: Apache-2.0
//
// node embed.mjs DIST OUT.cc: writes every file below DIST as the table of
// server-mock/assets.h.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { extname, join, relative } from "node:path";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

function typeOf(path) {
  const type = types[extname(path)];
  if (!type) {
    throw new Error(`${path}: no content type is known for it; add one to embed.mjs`);
  }
  return type;
}

const [dist, out] = process.argv.slice(2);
const files = filesBelow(dist).map((path, i) => ({
  name: `kFile${i}`,
  path: `/${relative(dist, path)}`,
  type: typeOf(path),
  bytes: readFileSync(path),
}));
const arrays = files.map(({ name, bytes }) => `const unsigned char ${name}[] = {${bytes.join(",")}};`);
const entries = files.map(
  ({ name, path, type, bytes }) =>
    `    {"${path}", "${type}", {reinterpret_cast<const char*>(${name}), ${bytes.length}}},`,
);
writeFileSync(
  out,
  `// SPDX-License-Identifier: Apache-2.0
// Made by embed.mjs.
#include "assets.h"

namespace cairn::server {
namespace {

${arrays.join("\n")}

const Asset kAssets[] = {
${entries.join("\n")}
};

}  // namespace

std::span<const Asset> Assets() {
  return kAssets;
}

}  // namespace cairn::server
`,
);
