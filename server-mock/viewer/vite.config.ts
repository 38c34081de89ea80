// SPDX-License-Identifier: Apache-2.0
import { defineConfig } from "vite";

// The server allows no inline script and no address but its own, so nothing is
// inlined and the page loads only what lies beside it.
export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2021",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
