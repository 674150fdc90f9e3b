// The process that encodes images: it may crash, takes limited time, and ends when it is idle. Without a server in this file, because the clock
// is faked, and waits of a server that begin meanwhile would never end.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import sharp from "sharp";
import { expect, onTestFinished, test, vi } from "vitest";
import { listDescendants } from "../../../e2e/process-tree.ts";
import { createImageEncoder } from "./encode-apart.ts";
import { damagedImage } from "./encode-image.ts";

const WAIT = { timeout: 30_000, interval: 5 };
const png = () =>
  sharp({ create: { width: 40, height: 20, channels: 3, background: "red" } })
    .png()
    .toBuffer();
const isEncoder = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("encode-process");

test("a crash of the decoder rejects its image, and the next one is encoded", async () => {
  const raw = { width: 1_500, height: 1_500, channels: 3 } as const;
  const large = await sharp(randomBytes(raw.width * raw.height * raw.channels), { raw })
    .png()
    .toBuffer();
  const encode = createImageEncoder();
  const encoding = encode(large);
  await vi.waitFor(() => {
    const encoders = listDescendants(process.pid).filter(isEncoder);
    expect(encoders).not.toEqual([]);
    for (const pid of encoders) process.kill(pid, "SIGKILL");
  }, WAIT);
  expect(await encoding).toEqual({ ok: false, problem: damagedImage() });
  expect(await encode(await png())).toMatchObject({ ok: true, image: { type: "image/png", width: 40 } });
});

test("ends an encoder that takes longer than 30 s or rests for a minute, never one at work", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const before = new Set(listDescendants(process.pid).filter(isEncoder));
  const countEncoders = () =>
    listDescendants(process.pid).filter((pid) => !before.has(pid) && isEncoder(pid)).length;
  const encode = createImageEncoder();
  const image = await png();
  expect(await encode(image)).toMatchObject({ ok: true });
  vi.advanceTimersByTime(40_000);
  const encoding = encode(image);
  vi.advanceTimersByTime(25_000);
  expect(await encoding).toMatchObject({ ok: true });
  expect(countEncoders()).toBe(1);
  vi.advanceTimersByTime(60_000);
  await expect.poll(countEncoders).toBe(0);
  const endless = encode(image);
  vi.advanceTimersByTime(30_000);
  expect(await endless).toEqual({ ok: false, problem: damagedImage() });
});
