// How the dashboard is built: below /app, every file but the page itself with a hash of its content in its name.
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

export default defineConfig({
  base: "/app/",
  plugins: [react(), tailwindcss(), shownOnceItRan],
  // Nothing is inlined: the page runs under a policy without inline scripts.
  build: { manifest: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { "^/(?!app)": "http://localhost:3000" } },
});
