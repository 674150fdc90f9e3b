// Tests the render pool: order, limits, bombs next to harmless emails, dying threads and a free main thread. Uses real threads;
// template-language.test.ts covers the language.

import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { afterAll, afterEach, expect, test } from "vitest";
import { buildBody, type MessageBody } from "../message/body.ts";
import { leastWallMs } from "../testing/least-time.ts";
import {
  createRenderer,
  type Renderer,
  type RenderJob,
  type RendererOptions,
  type RenderResult,
} from "./renderer.ts";

const open: Renderer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((renderer) => renderer.close()));
});

function start(options: Partial<RendererOptions> = {}): Renderer {
  const renderer = createRenderer({ threads: 2, ...options });
  open.push(renderer);
  return renderer;
}

function job(html: string, variables: Record<string, unknown> = {}, contentKey = html): RenderJob {
  return { contentKey, content: { subject: "Hi {{name}}", html, text: null }, variables };
}

function reason(result: RenderResult | undefined): string {
  return result === undefined || result.ok ? "" : result.reason;
}

const GOOD = job("<p>Hello {{name}}</p>", { name: "Ada" });
const GOOD_RESULT = { ok: true, subject: "Hi Ada", html: "<p>Hello Ada</p>", text: "Hello Ada" };
const PICTURE = {
  filename: "p.png",
  contentType: "image/png",
  content: Buffer.from("picture"),
  disposition: "inline" as const,
  contentId: "p",
};
const ITEMS = Array.from({ length: 3_000 }, (_, index) => index);

test("returns results in job order and fails jobs independently", async () => {
  const jobs = Array.from({ length: 120 }, (_, number) =>
    number === 60 ? job("{{#if}}") : job(`<b>{{n}}</b>${number % 7}`, { n: number, name: number }),
  );
  const results = await start().render(jobs);
  for (const [number, result] of results.entries()) {
    expect(result).toEqual(
      number === 60
        ? {
            ok: false,
            reason: "The template cannot be used: html, line 1, column 1: This block is never closed.",
          }
        : {
            ok: true,
            subject: `Hi ${number}`,
            html: `<b>${number}</b>${number % 7}`,
            text: `${number}${number % 7}`,
          },
    );
  }
});

test("returns parts without mustaches unchanged and generates their text", async () => {
  const content = { subject: "a & b\\", html: "<p>a &amp; b</p>", text: null };
  expect(await start().render([{ contentKey: "static", content, variables: {} }])).toEqual([
    { ok: true, subject: "a & b\\", html: "<p>a &amp; b</p>", text: "a & b" },
  ]);
});

test("builds the body of an outgoing email from its rendered parts and files", async () => {
  const renderer = start();
  const bodyOf = { messageId: "1@x.example", attachments: [PICTURE] };
  const jobs = [
    { ...GOOD, ...bodyOf },
    { ...job("{{#if}}"), ...bodyOf },
    { ...GOOD, ...bodyOf, attachments: [{ ...PICTURE, contentId: "a b" }] },
    { ...job("as it is"), messageId: "2@x.example", attachments: [] },
  ];
  const [good, unreadable, unbuildable, plain] = await renderer.renderBodies(jobs);
  expect(good).toEqual({
    ok: true,
    subject: "Hi Ada",
    body: asCopied(buildBody({ ...bodyOf, html: GOOD_RESULT.html, text: GOOD_RESULT.text })),
    links: [],
  });
  expect(unreadable).toMatchObject({ ok: false, reason: expect.stringContaining("never closed") });
  expect(unbuildable).toMatchObject({
    ok: false,
    reason: 'The message could not be built: Not an id for Content-ID: "a b"',
  });
  expect(plain).toMatchObject({
    body: asCopied(
      buildBody({ messageId: "2@x.example", html: "as it is", text: "as it is", attachments: [] }),
    ),
  });
});

test("turns a NUL in a variable into a replacement character without mixing up shared texts", async () => {
  const long = "The same for all. ".repeat(20);
  const variables = { name: "\u00000\0", "k\0": "\\u0000" };
  const name = "\uFFFD0\uFFFD";
  const mail = job(`${long}{{name}}{{#each this}}{{@key}}{{this}}{{/each}}`, variables);
  expect(await start().render([mail])).toMatchObject([{ html: `${long}${name}name${name}k\uFFFD\\u0000` }]);
});

/** Data from another thread is not a Buffer, and the room in front of a body has arbitrary bytes. */
function asCopied(body: MessageBody): MessageBody {
  return { ...body, memory: expect.objectContaining({ length: body.memory.length }) };
}

test("reads a message template once and identifies it by its key afterwards", async () => {
  const renderer = start({ threads: 1 });
  await renderer.render([job("<p>first</p>", {}, "key")]);
  expect(await renderer.render([job("<p>second {{x}}</p>", {}, "key"), GOOD])).toMatchObject([
    { text: "first" },
    GOOD_RESULT,
  ]);
});

test("renders more message templates than a thread keeps and recompiles evicted ones", async () => {
  const renderer = start({ threads: 1 });
  const jobs = Array.from({ length: 700 }, (_, number) => job(`{{n}}/${number}`, { n: number }));
  for (const round of [1, 2]) {
    const results = await renderer.render(jobs);
    expect(results.map((result) => (result.ok ? result.html : round))).toEqual(
      jobs.map((_, number) => `${number}/${number}`),
    );
  }
  // If the thread had not evicted it, the key would still refer to the old template.
  const [again] = await renderer.render([job("new {{n}}", { n: 1 }, "{{n}}/0")]);
  expect(again).toMatchObject({ html: "new 1" });
});

function large(letter: string): RenderJob {
  const rest = letter.repeat(4_900_000);
  const content = { subject: `{{letter}} is ${letter}`, html: rest, text: rest };
  return { contentKey: "large", content, variables: { letter } };
}

test("reads message templates too large to keep every time", async () => {
  const renderer = start({ threads: 1 });
  for (const letter of ["a", "b", "b"]) {
    const [result] = await renderer.render([large(letter)]);
    expect(result?.ok === true ? result.subject : reason(result)).toBe(`${letter} is ${letter}`);
  }
});

/**
 * Measures the longest uninterrupted work of the main thread in its own CPU time. The event loop delay would include other processes on a
 * busy machine.
 */
function watchTurns(): () => number {
  let usage = process.threadCpuUsage();
  let longestMs = 0;
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(usage);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    usage = process.threadCpuUsage();
  }, 1);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
}

const TOO_SLOW = /^The template took longer than 250 ms to render\.$/;
const BOMBS: Array<[string, RenderJob, RegExp]> = [
  [
    "each in each over 3,000 items",
    job("{{#each items}}{{#each @root.items}}{{this}}{{/each}}{{/each}}", { items: ITEMS }),
    TOO_SLOW,
  ],
  [
    "each in each over objects",
    job("{{#each items}}{{#each @root.items}}{{#each ../this}}{{/each}}{{/each}}{{/each}}", {
      items: ITEMS.map(() => ({ a: 1 })),
    }),
    TOO_SLOW,
  ],
  ["a path of 20,000 parts", job(`{{a${".a".repeat(20_000)}}}`), /more than 40 dots/],
  ["3,000 nested blocks", job("{{#a}}".repeat(3_000) + "{{/a}}".repeat(3_000)), /nested deeper than 50/],
  ["10 MB of mustaches", job("{{a}}".repeat(2_000_000)), /The html is larger than 6 MB\./],
  ["4 MB of mustaches", job("{{a}}".repeat(800_000)), /longer than 2,000,000 characters/],
  [
    "huge output",
    job("{{#each items}}{{../big}}{{/each}}", { items: ITEMS, big: "x".repeat(10_000) }),
    /The rendered html is larger than 6 MB\.|longer than 250 ms/,
  ],
  [
    "more output than allowed",
    // Seven megabytes are built long before the time limit, also on a busy machine.
    job("{{#each items}}{{{../big}}}{{/each}}", { items: ITEMS.slice(0, 8), big: "x".repeat(900_000) }),
    /^The rendered html is larger than 6 MB\.$/,
  ],
  [
    "output longer than a string can be",
    job("{{#each items}}{{{../big}}}{{/each}}", { items: ITEMS, big: "x".repeat(900_000) }),
    // Builds half a gigabyte in about a quarter of a second.
    /^The rendered \w+ is larger than 6 MB\.$|longer than 250 ms/,
  ],
  [
    "a lot to escape",
    job("{{#each items}}{{../big}}{{/each}}", { items: ITEMS, big: "<".repeat(900_000) }),
    /longer than 250 ms|too much memory/,
  ],
  [
    "markup that never closes",
    job("<i>".repeat(200_000) + "</b>".repeat(200_000) + "{{a}}"),
    /^The template took longer than 1000 ms to read\.$/,
  ],
  [
    "variables 20,000 deep",
    job("{{a}}", { a: JSON.parse("[".repeat(20_000) + "]".repeat(20_000)) }),
    /^The variables are not plain data: /,
  ],
  ["variables that are not data", job("{{a}}", { a: 1n }), /^The variables are not plain data: /],
];

const shared = createRenderer({ threads: 2 });
afterAll(() => shared.close());

test.each(BOMBS)("%s fails alone and leaves the main thread free", async (_, bomb, expected) => {
  await shared.render([GOOD]);
  let turnMs = Number.POSITIVE_INFINITY;
  // Shared cores occasionally slow down a turn, so the minimum of three runs measures the bomb itself.
  for (let tries = 0; tries < 3 && turnMs >= 50; tries++) {
    const longestTurnMs = watchTurns();
    const results = await shared.render([GOOD, bomb, GOOD]);
    turnMs = longestTurnMs();
    expect([results[0], results[2]]).toEqual([GOOD_RESULT, GOOD_RESULT]);
    expect(reason(results[1])).toMatch(expected);
  }
  expect(turnMs).toBeLessThan(50);
});

test("bombs of all kinds in one batch fail only their own emails", async () => {
  const jobs = BOMBS.flatMap(([, bomb]) => [bomb, GOOD]);
  const results = await start().render(jobs);
  expect(results.filter((_, index) => index % 2 === 1)).toEqual(BOMBS.map(() => GOOD_RESULT));
  expect(results.filter((_, index) => index % 2 === 0).map((result) => result.ok)).toEqual(
    BOMBS.map(() => false),
  );
});

test("rejects all jobs of a message template that keeps timing out, but not those of others", async () => {
  const bomb = job("{{#each items}}{{#each @root.items}}{{this}}{{/each}}{{/each}}", { items: ITEMS });
  const renderBombs = async () => {
    const results = await start({ threads: 1 }).render([...Array.from({ length: 40 }, () => bomb), GOOD]);
    expect(results.slice(0, 40).map(reason)).toEqual(
      Array.from({ length: 40 }, () => expect.stringMatching(TOO_SLOW)),
    );
    expect(results[40]).toEqual(GOOD_RESULT);
  };
  // Separately each would take 40 × 250 ms, twice.
  expect(await leastWallMs(8_000, renderBombs)).toBeLessThan(8_000);
});

test("retries a job after its thread was ended, because a busy machine looks like a bomb", async () => {
  let tries = 0;
  const variables = {
    name: "Ada",
    toJSON: () => {
      tries += 1;
      return { name: "Ada", items: tries === 1 ? ITEMS : [1, 2] };
    },
  };
  const bomb = job("{{#each items}}{{#each @root.items}}{{this}}{{/each}}{{/each}}", variables);
  expect(await start({ threads: 1 }).render([bomb])).toMatchObject([{ ok: true, html: "1212" }]);
  expect(tries).toBe(2);
});

test("replaces a thread that dies and renders its unfinished jobs", async () => {
  const renderer = start({ threads: 1, renderTimeoutMs: 60_000 });
  // A list is joined again each time it is printed.
  const hungry = job("{{#each items}}{{#each @root.items}}{{{@root.list}}}{{/each}}{{/each}}", {
    items: ITEMS,
    list: ["x".repeat(400_000), "y".repeat(400_000)],
  });
  const results = await renderer.render([GOOD, hungry, GOOD]);
  expect(results).toEqual([
    GOOD_RESULT,
    { ok: false, reason: "The template took too much memory." },
    GOOD_RESULT,
  ]);
  expect(await renderer.render([GOOD])).toEqual([GOOD_RESULT]);
});

function sized(name: string): RenderJob {
  return job("{{name}}", { name }, "sized");
}

test("applies the output limit to the bytes of each part", async () => {
  const renderer = start({ outputLimitBytes: 1_000 });
  const [fits, twoBytes, long] = await renderer.render([
    sized("x".repeat(990)),
    sized("é".repeat(501)),
    sized("x".repeat(1_001)),
  ]);
  expect(fits).toMatchObject({ ok: true });
  expect([reason(twoBytes), reason(long)]).toEqual([
    "The rendered subject is larger than 1,000 bytes.",
    "The rendered subject is larger than 1,000 bytes.",
  ]);
});

test("fails only the email with variables that make its subject too long", async () => {
  const renderer = start();
  const subjects = ["n".repeat(998), "n".repeat(999), "😀".repeat(998)].map((name) => ({
    contentKey: "long subject",
    content: { subject: "{{name}}", html: "<p>Hello</p>", text: null },
    variables: { name },
  }));
  const results = await renderer.render(subjects);
  expect(results.map((result) => (result.ok ? result.subject.length : result.reason))).toEqual([
    998,
    "The subject is longer than 998 characters after filling in its variables.",
    2 * 998,
  ]);
});

test("check returns the problems of every part", async () => {
  const renderer = start();
  expect(
    await renderer.check({ subject: "{{a", html: "x\n{{#each}}{{/each}}", text: "{{foo 1}}" }),
  ).toMatchObject([
    { field: "subject", line: 1, column: 1, message: "This mustache is never closed." },
    { field: "html", line: 2, column: 4, message: "{{#each}} takes exactly one value." },
    { field: "text", line: 1, column: 1, message: 'Unknown helper "foo".' },
  ]);
  expect(await renderer.check({ subject: "{{a}}", html: "x", text: null })).toEqual([]);
  expect(
    await renderer.check({ subject: "s", html: "x".repeat(LIMITS.renderedBytes.value + 1), text: null }),
  ).toEqual([{ field: "html", line: 1, column: 1, message: "The html is larger than 6 MB." }]);
});

test("applies time limits to checks", async () => {
  const renderer = start({ threads: 1, readTimeoutMs: 1 });
  const html = `${"\n".repeat(999_000)}x${"\n".repeat(900_000)}${"{{#if a}}{{/if}}".repeat(700)}`;
  expect(await renderer.check({ subject: "s", html, text: null })).toEqual([
    {
      field: "html",
      line: 1,
      column: 1,
      message: "The template took longer than 1 ms to read.",
    },
  ]);
});

test("close fails waiting and later jobs", async () => {
  const renderer = start({ threads: 1 });
  const waiting = renderer.render(Array.from({ length: 100 }, () => GOOD));
  await renderer.close();
  const closed = { ok: false, reason: "The renderer is closed." };
  expect(await waiting).toEqual(Array.from({ length: 100 }, () => closed));
  expect(await renderer.render([GOOD])).toEqual([closed]);
  expect(await renderer.check({ subject: "{{a}}", html: "", text: null })).toMatchObject([
    { message: closed.reason },
  ]);
});
