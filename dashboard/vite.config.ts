// Builds the dashboard for /app, with a content hash in every file name except the page's, and serves it with reload in `npm run dev`.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Blocks the first paint until the script that applies the chosen theme has run, because the page would otherwise flash in the system's
 * theme.
 */
const shownOnceItRan: Plugin = {
  name: "shown-once-it-ran",
  transformIndexHtml: {
    order: "post",
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

/** The development server answers /app with an error page that suggests /app/, while the real server serves the dashboard there. */
const withoutSlash: Plugin = {
  name: "app-without-slash",
  configureServer: ({ middlewares }) =>
    void middlewares.use((request, response, next) => {
      if (request.url !== "/app") return next();
      response.writeHead(302, { location: "/app/" }).end();
    }),
};

export default defineConfig({
  base: "/app/",
  plugins: [react(), tailwindcss(), shownOnceItRan, withoutSlash],
  // Nothing is inlined, because the page's policy forbids inline scripts.
  build: {
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The router needs them all at first, and pages need one each, which would make a file of each.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "search", test: /pages\/\w+\/search\.ts$/ }] } },
    },
    license: { fileName: "third-party-licenses.md" },
  },
  server: { proxy: { "^/(?!app(/|$|\\?))": process.env["POSTLOFT_SERVER"] ?? "http://localhost:3000" } },
});
