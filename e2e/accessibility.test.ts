// Checks every dashboard screen for accessibility: no serious axe finding in either theme, a sensible reading order, and no clipped or
// overlapping text at 320 px. WCAG 2.2 AA (1.4.10) requires reflow at that width, which equals 1280 px at 400 %. Also checks that the cards of
// all screens end at the same right edge, because it opens each of them.
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error plain JavaScript, which has no declaration
import { buildDashboard } from "../tools/bootstrap/build-dashboard.js";
import { startBrowser } from "./browser.ts";
import { BOOTSTRAP, makeDataFolder, startProgram, type Program } from "./program.ts";
import { readingOrderFaults, readAccessibilityTree } from "./reading-order.ts";
import { furnish, openScreen, openWindow, type Screen } from "./screens.ts";

let browser: Browser;
let program: Program;
let data: Awaited<ReturnType<typeof makeDataFolder>>;
let screens: Screen[];
beforeAll(async () => {
  await buildDashboard(process.execPath);
  data = await makeDataFolder();
  program = await startProgram({ ...BOOTSTRAP, DATA_DIR: data.path });
  screens = await furnish(program.url);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await program.stop();
  await data.remove();
});

const ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Rules affected by the theme and the width. All others give the same result in both. */
const RULES_OF_LOOKS = ["color-contrast", "target-size", "scrollable-region-focusable"];

/** Returns serious and critical findings as `rule: element`. */
async function findingsOf(page: Page, rules: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const runOnly = JSON.stringify(rules);
  const results = (await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"], runOnly: ${runOnly} })`,
  )) as axe.AxeResults;
  return results.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.filter((node) => !isUnderCanvas(node)).map(({ html }) => `${id}: ${html.slice(0, 160)}`),
    );
}

const isOnCanvas = (path: axe.UnlabelledFrameSelector) => path.join(" ").includes("react-flow");

/**
 * Whether an element is only near steps of a workflow that the canvas clips. axe compares their whole rectangles, and doesn't see that they
 * end at the edge of the canvas.
 */
function isUnderCanvas({ target, any }: axe.NodeResult): boolean {
  const near = any.flatMap(({ relatedNodes = [] }) => relatedNodes);
  return near.length > 0 && !isOnCanvas(target) && near.every((node) => isOnCanvas(node.target));
}

/** Returns by how many pixels the page is wider than its window. */
const overflowOf = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

/** Returns the headings, labels and table cells with content that overflows into the next one. */
const colliding = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll("th, dt, td > span")]
       .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
       .filter((one) => getComputedStyle(one).display !== "inline" && getComputedStyle(one).overflowX === "visible")
       .map((one) => one.textContent)`,
  );

/** Returns the cards that end before the right edge of the page with nothing beside them. */
const shortCards = (page: Page) =>
  page.evaluate<string[]>(
    `(() => {
       const header = document.querySelector("main header:has(> div > h1)");
       if (header === null) return [];
       const right = header.getBoundingClientRect().right;
       const cards = [...header.parentElement.querySelectorAll("section.rounded-lg.border")]
         .filter((one) => one.parentElement.closest("section.rounded-lg.border") === null)
         .map((one) => ({ text: one.textContent.slice(0, 40), box: one.getBoundingClientRect() }));
       const isBeside = ({ left, top, bottom }, { box }) => left >= box.right && top < box.bottom && bottom > box.top;
       const others = [...header.parentElement.querySelectorAll("*")].map((one) => one.getBoundingClientRect());
       return cards
         .filter((card) => card.box.right < right - 1 && !others.some((other) => isBeside(other, card)))
         .map(({ text }) => text);
     })()`,
  );

const VIEWS = {
  // Wide enough to see a page that ends before the others.
  light: { width: 1600, height: 900 },
  dark: { width: 320, height: 900, locale: "de-DE" },
};

test.each(["light", "dark"] as const)(
  "no screen has a serious finding, %s",
  async (theme) => {
    const findings: Record<string, unknown> = {};
    for (const isOutside of [true, false]) {
      const context = await openWindow(browser, program.url, { theme, ...VIEWS[theme] }, isOutside);
      const page = await context.newPage();
      for (const screen of screens.filter((one) => (one.isOutside ?? false) === isOutside)) {
        await openScreen(page, screen);
        const found = await findingsOf(page, theme === "light" ? ALL_RULES : RULES_OF_LOOKS);
        const overflow = await overflowOf(page);
        // The reading order is the same in both themes.
        const reading =
          theme === "light" ? readingOrderFaults(await readAccessibilityTree(page), isOutside) : [];
        const together = await colliding(page);
        const short = theme === "light" ? await shortCards(page) : [];
        if ([found, reading, together, short].some((list) => list.length > 0) || overflow > 0)
          findings[screen.name] = { found, overflow, reading, together, short };
      }
      await context.close();
    }
    expect(findings).toEqual({});
    expect(screens.length).toBeGreaterThan(10);
  },
  // Against what hangs: nearly fifty screens take 45 s on two busy cores.
  120_000,
);
