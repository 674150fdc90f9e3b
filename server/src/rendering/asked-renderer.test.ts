// Tests that the checks and previews of one project barely delay other projects.
import { afterEach, expect, test } from "vitest";
import { createAskedRenderer, type AskedRenderer } from "./asked-renderer.ts";
import type { RenderJob } from "./renderer.ts";

const open: AskedRenderer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((renderer) => renderer.close()));
});

function start(): AskedRenderer {
  const renderer = createAskedRenderer();
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
const content = (html: string) => ({ subject: "{{name}}", html, text: null });

test("runs checks and another project's preview before further endless previews", async () => {
  const renderer = start();
  await renderer.check("other", content("<p>{{name}}</p>"));
  let ended = 0;
  const bombs = Array.from({ length: 6 }, async (_, number) => {
    const result = await renderer.render("hostile", job(BOMB, number));
    ended += 1;
    return result;
  });
  for (let number = 0; number < 5; number++)
    expect(await renderer.check("other", content(`<p>{{name}} ${number}</p>`))).toEqual([]);
  expect(ended).toBe(0);
  expect(await renderer.check("other", content("{{#if}}"))).toHaveLength(1);
  const preview = await renderer.render("other", job("<p>{{name}}</p>"));
  expect(preview).toMatchObject({ ok: true });
  expect(ended).toBeLessThan(3);
  expect(await Promise.race(bombs)).toMatchObject({
    reason: "The template took longer than 250 ms to render.",
  });
  // Running the rest would pause for seconds.
  await renderer.close();
  await Promise.allSettled(bombs);
});

test("checks of another project overtake the queue of a project with long templates", async () => {
  const renderer = start();
  const long = content(`${"\n".repeat(200_000)}${"{{#if a}}{{/if}}".repeat(300)}`);
  await renderer.check("long", long);
  let checked = 0;
  const many = Array.from({ length: 50 }, async () => {
    await renderer.check("long", long);
    checked += 1;
  });
  expect(await renderer.check("other", content("<p>{{name}}</p>"))).toEqual([]);
  expect(checked).toBeLessThan(4);
  await Promise.all(many);
});

test("rejects previews only for the project that has too many waiting", async () => {
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
