// Builds the dashboard for /app, with a content hash in every file name except the page's, and serves it with reload in `npm run dev`.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
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

const LICENSES = "third-party-licenses.md";
const FONT = "@fontsource-variable/inter";

/** Adds the license of the font, because the build lists only packages with code. */
const fontLicense: Plugin = {
  name: "font-license",
  apply: "build",
  generateBundle: {
    order: "post",
    async handler(_options, bundle) {
      const folder = join(import.meta.dirname, "../node_modules", FONT);
      const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
        version: string;
      };
      const text = await readFile(join(folder, "LICENSE"), "utf8");
      const list = bundle[LICENSES];
      if (list?.type !== "asset") throw new Error("The list of licenses is missing in the build.");
      list.source = `${String(list.source)}\n## ${FONT} - ${version} (OFL-1.1)\n\n${text}`;
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
  plugins: [react(), tailwindcss(), firstPaint, fontLicense, withoutSlash],
  // Nothing is inlined, because the page's policy forbids inline scripts.
  build: {
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The router needs them all at first, and pages need one each, which would make a file of each.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "search", test: /pages\/\w+\/search\.ts$/ }] } },
    },
    license: { fileName: LICENSES },
  },
  server: { proxy: { "^/(?!app(/|$|\\?))": process.env["POSTLOFT_SERVER"] ?? "http://localhost:3000" } },
});
