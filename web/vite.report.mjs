// Builds the chart that reports carry inside them: dist/report.js.
import { defineConfig } from "vite";

export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2022",
    emptyOutDir: false,
    reportCompressedSize: false,
    lib: { entry: "src/report.tsx", formats: ["iife"], name: "report", fileName: () => "report.js" },
  },
});
