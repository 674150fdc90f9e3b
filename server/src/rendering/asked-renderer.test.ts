// Checks and previews of many projects: what one of them asks for costs the others next to nothing.
import { afterEach, expect, test } from "vitest";
import { createAskedRenderer, type AskedRenderer } from "./asked-renderer.ts";
import type { RenderJob } from "./renderer.ts";

const open: AskedRenderer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((renderer) => renderer.close()));
});

function start(quickMs?: number): AskedRenderer {
  const renderer = createAskedRenderer(quickMs === undefined ? {} : { quickMs });
  open.push(renderer);
  return renderer;
}

const ITEMS = Array.from({ length: 3_000 }, (_, index) => index);
const BOMB = "{{#each items}}{{#each @root.items}}{{this}}{{/each}}{{/each}}";
const job = (html: string, number = 0): RenderJob => ({
  contentKey: `${html} ${number}`,
  content: { subject: "Hi {{name}}", html, text: null },
  variables: { name: "Ada", items: ITEMS },
});

test("endless previews of one project do not hold up another one's", async () => {
  const renderer = start();
  expect(await renderer.render("other", job("<p>{{name}}</p>"))).toMatchObject({ ok: true });
  let ended = 0;
  const bombs = Array.from({ length: 6 }, async (_, number) => {
    const result = await renderer.render("hostile", job(BOMB, number));
    ended += 1;
    return result;
  });
  const results = [];
  for (let number = 0; number < 5; number++)
    results.push(await renderer.render("other", job("<p>{{name}}</p>", number)));
  const problems = await renderer.check("other", { subject: "{{name}}", html: "{{#if}}", text: null });
  // Each of them takes a quarter of a second, and that twice.
  expect(ended).toBeLessThan(4);
  expect(results.every((result) => result.ok)).toBe(true);
  expect(problems).toHaveLength(1);
  expect(await Promise.race(bombs)).toMatchObject({
    reason: "The template took longer than 250 ms to render.",
  });
  // The rest of them rests for seconds between one and the next.
  await renderer.close();
  await Promise.allSettled(bombs);
});

test("a project that asks for too much that takes long is refused, and nobody else is", async () => {
  const renderer = start();
  const bombs = Array.from({ length: 30 }, (_, number) => renderer.render("hostile", job(BOMB, number)));
  const codes = bombs.map(async (bomb) =>
    bomb.then(
      () => "",
      (error: { code: string }) => error.code,
    ),
  );
  expect(await Promise.race(codes)).toBe("RATE_LIMIT_EXCEEDED");
  expect(await renderer.render("other", job("<p>{{name}}</p>"))).toMatchObject({ ok: true });
  await renderer.close();
  await Promise.all(codes);
});

test("what takes long without harm is done all the same, also when it is asked for again", async () => {
  const renderer = start(1);
  const html = `${"\n".repeat(200_000)}${"{{#if a}}{{/if}}".repeat(300)}`;
  for (let times = 0; times < 2; times++)
    expect(await renderer.check("slow", { subject: "s", html, text: null })).toEqual([]);
});
