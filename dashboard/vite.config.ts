// Builds the dashboard for /app, with a content hash in every file name except the page's, and serves it with reload in `npm run dev`.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Nothing is shown before the program that knows the chosen theme has run: without it, who chose the other one than their system sees both. */
const shownOnceItRan: Plugin = {
  name: "shown-once-it-ran",
  transformIndexHtml: {
    order: "post",
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

/** The development server answers /app with an error page that suggests /app/; the real server answers it with the dashboard. */
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
  // Nothing is inlined: the page runs under a policy without inline scripts.
  build: {
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "third-party-licenses.md" },
  },
  server: { proxy: { "^/(?!app(/|$|\\?))": process.env["POSTLOFT_SERVER"] ?? "http://localhost:3000" } },
});
