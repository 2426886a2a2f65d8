// Builds the page as one file, dist/index.html, that needs nothing else: it is served with the hashes of its style and its
// script, saved as a record of a job or a day, and looked at without a server.
import { defineConfig } from "vite";

const inOneFile = {
  name: "in-one-file",
  enforce: "post",
  generateBundle(_, bundle) {
    const parts = Object.values(bundle);
    const page = parts.find((part) => part.fileName === "index.html");
    const script = parts.find((part) => part.type === "chunk");
    const style = parts.find((part) => part.fileName.endsWith(".css"));
    // A string in the script must not end it.
    const code = script.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
    page.source = page.source
      .replace(/\s*<(script|link)[^>]*(src|href)=[^>]*>(<\/script>)?/g, "")
      .replace("</head>", () => `  <style>${style.source.trim()}</style>\n</head>`)
      .replace("</body>", () => `  <script type="module">${code}</script>\n</body>`);
    for (const part of [script, style]) {
      delete bundle[part.fileName];
    }
  },
};

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: { target: "es2022", cssTarget: ["chrome123", "firefox120", "safari17.5"], cssCodeSplit: false, modulePreload: false, reportCompressedSize: false },
  plugins: [inOneFile],
});
