// Builds the dashboard for /app, with a content hash in every file name except the page's, and serves it with reload in `npm run dev`.
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { THEME_KEY } from "./src/ui/theme.ts";

/**
 * The script that runs before the first paint. It applies the chosen theme and says whether the address is one of a project, so that the
 * page shows the right outline while the program loads. A file of its own, because the page's policy forbids inline scripts.
 */
const FIRST_SCRIPT = `(function (root) {
  var theme = localStorage.getItem(${JSON.stringify(THEME_KEY)});
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (/^\\/app\\/[0-9a-f]{8}-/.test(location.pathname)) root.dataset.shell = "project";
})(document.documentElement);
`;

const firstPaint: Plugin = {
  name: "first-paint",
  apply: "build",
  buildStart() {
    this.emitFile({ type: "asset", name: "first-paint.js", source: FIRST_SCRIPT });
  },
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle }) => {
      const file = Object.keys(bundle ?? {}).find((name) => name.includes("first-paint"));
      if (file === undefined) throw new Error("The script of the first paint is missing in the build.");
      return [{ tag: "script", attrs: { src: `/app/${file}` }, injectTo: "head-prepend" }];
    },
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
  plugins: [react(), tailwindcss(), firstPaint, withoutSlash],
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
