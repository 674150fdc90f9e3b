// Tests forms from browsers and mail clients, and malformed ones.
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { joinParts, readForm, readUpload } from "./form.ts";
import { leastCpuMs } from "../../testing/cpu-timer.ts";

const URLENCODED = "application/x-www-form-urlencoded";
const MULTIPART = "multipart/form-data; boundary=x";
const part = (head: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;

const FORMS: Array<[string, string, string, Record<string, string>]> = [
  ["urlencoded", URLENCODED, "List-Unsubscribe=One-Click", { "List-Unsubscribe": "One-Click" }],
  ["with a charset", `${URLENCODED}; charset=UTF-8`, "a=%C3%BC+1", { a: "ü 1" }],
  ["in capitals", "Application/X-WWW-Form-Urlencoded", "a=1", { a: "1" }],
  ["a name twice", URLENCODED, "a=1&a=2", { a: "2" }],
  ["empty", URLENCODED, "", {}],
  ["multipart", MULTIPART, `${part('name="a"', "1")}--x--\r\n`, { a: "1" }],
  ["multipart without quotes", MULTIPART, `${part("name=a", "1")}--x--`, { a: "1" }],
  [
    "multipart with a file",
    MULTIPART,
    `${part('name="f"; filename="f.txt"', "1")}${part('name="a"', "2")}--x--\r\n`,
    { a: "2" },
  ],
  ["invalid multipart", MULTIPART, "garbage", {}],
  ["multipart cut short", MULTIPART, part('name="a"', "1").slice(0, -4), {}],
  ["multipart without a boundary", "multipart/form-data", "garbage", {}],
  ["bytes that are not UTF-8", URLENCODED, "a=%ff%fe", { a: "\ufffd\ufffd" }],
];

test.for(FORMS)("reads a form: %s", async ([, contentType, text, expected]) => {
  expect(await readForm(Buffer.from(text), contentType)).toEqual(expected);
});

test("treats names of object methods like any other names", async () => {
  const form = await readForm(Buffer.from("__proto__=1&constructor=2"), URLENCODED);
  expect(Object.entries(form)).toEqual([
    ["__proto__", "1"],
    ["constructor", "2"],
  ]);
  expect({}).not.toHaveProperty("1");
});

const HEADS: Array<[string, string, string | null]> = [
  ["as browsers write it", 'name="file"; filename="a.csv"\r\nContent-Type: text/csv', "a.csv"],
  ["without a type", 'name="file"; filename="a.csv"', "a.csv"],
  ["without quotes", "name=file; filename=a.csv", "a.csv"],
  ["with an encoded name", 'name="file"; filename="a.csv"; filename*=UTF-8\'\'%C3%BC.csv', "ü.csv"],
  ["with a transfer encoding", 'name="file"; filename="a.csv"\r\nContent-Transfer-Encoding: binary', "a.csv"],
  ["without a file name", 'name="file"', null],
];

test.for(HEADS)("reads a file %s byte for byte", async ([, head, filename]) => {
  const text = "ü,\r\n--y \u0000\r\n";
  const { file } = await readUpload(Buffer.from(`${part(head, text)}--x--\r\n`), MULTIPART);
  expect(file?.filename).toBe(filename);
  expect(Buffer.from(file?.bytes ?? []).toString()).toBe(text);
});

test("rejects an upload that is malformed or incomplete", async () => {
  const whole = part('name="file"; filename="a.csv"', "text");
  for (const [bytes, contentType] of [
    ["garbage", MULTIPART],
    ["", MULTIPART],
    [whole, MULTIPART],
    [`${whole}--x--`, "multipart/form-data"],
    [`${whole}--x--`, "multipart/form-data; boundary=y"],
  ] as const)
    await expect(readUpload(Buffer.from(bytes), contentType)).rejects.toMatchObject({
      code: "INVALID_REQUEST_BODY",
    });
});

test("rejects a form with too many parts before parsing it, in either encoding", async () => {
  const parts = part('name="a"', "b").repeat(150_000);
  const readAll = async () => {
    for (const [bytes, contentType] of [
      [`${parts}--x--`, MULTIPART],
      [`${parts}--x--`, 'multipart/form-data; boundary="x"'],
      [`${parts}--x--`, "multipart/form-data; charset=utf-8; boundary=x; a=b"],
      ["a=b&".repeat(150_000), URLENCODED],
    ] as const)
      await expect(readForm(Buffer.from(bytes), contentType)).rejects.toMatchObject({
        code: "INVALID_REQUEST_BODY",
      });
    await expect(readUpload(Buffer.from(`${parts}--x--`), MULTIPART)).rejects.toMatchObject({
      code: "INVALID_REQUEST_BODY",
    });
  };
  expect(await leastCpuMs(1_000, readAll)).toBeLessThan(1_000);
});

test("reads as many parts as a form may have, and rejects one more, in either encoding", async () => {
  const most = LIMITS.formParts.value;
  const names = Array.from({ length: most + 1 }, (_, at) => `f${at}`);
  const multipart = (count: number) =>
    Buffer.from(
      `${names
        .slice(0, count)
        .map((name) => part(`name="${name}"`, "1"))
        .join("")}--x--`,
    );
  const urlencoded = (count: number) =>
    Buffer.from(
      names
        .slice(0, count)
        .map((name) => `${name}=1`)
        .join("&"),
    );
  const readers = [
    async (count: number) => readForm(multipart(count), MULTIPART),
    async (count: number) => readUpload(multipart(count), MULTIPART),
    async (count: number) => readForm(urlencoded(count), URLENCODED),
  ];
  for (const read of readers) {
    expect(Object.keys(await read(most))).toHaveLength(most);
    await expect(read(most + 1)).rejects.toMatchObject({ code: "INVALID_REQUEST_BODY" });
  }
});

test("decodes parts with a transfer encoding, and returns the last one of a name", async () => {
  const head = 'name="file"; filename="a.csv"\r\nContent-Transfer-Encoding: base64';
  const encoded = (text: string) => part(head, Buffer.from(text).toString("base64"));
  const body = `${encoded("former")}${part('name="a"', "1")}${encoded("ü,1")}--x--\r\n`;
  const { a, file } = await readUpload(Buffer.from(body), MULTIPART);
  expect([a, file].map((one) => Buffer.from(one?.bytes ?? []).toString())).toEqual(["1", "ü,1"]);
});

test("reads several files of an upload in place, also empty ones and contents that look like headers", async () => {
  const contents = ["", "\r\n", "\r\n\r\nName: value\r\n\r\n", "0", "\r\n--", "x".repeat(1_000_000)];
  const heads = contents.map((content, at) => part(`name="f${at}"; filename="${at}.csv"`, content));
  const body = Buffer.from(`${heads.join("")}--x--\r\n`);
  const files = await readUpload(body, MULTIPART);
  expect(Object.values(files).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(contents);
  expect(Object.values(files).every(({ bytes }) => bytes.buffer === body.buffer)).toBe(true);
});

const file = (text: string) => ({ filename: null, bytes: Buffer.from(text) });
const upload = async (boundary: string, text: string, name = "file") => {
  const body = `${part(`name="${name}"; filename="a.csv"`, text)}--x--`.replaceAll("--x", `--${boundary}`);
  return joinParts(await readUpload(Buffer.from(body), `multipart/form-data; boundary=${boundary}`));
};

test("treats the same parts under another boundary as the same upload", async () => {
  expect(await upload("y", "text")).toEqual(await upload("z", "text"));
  expect(await upload("y", "text")).not.toEqual(await upload("y", "test"));
  expect(await upload("y", "text")).not.toEqual(await upload("y", "text", "data"));
  expect(joinParts({ a: file("1b:2") })).not.toEqual(joinParts({ a: file("1"), b: file("2") }));
});
