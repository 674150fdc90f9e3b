// Tests that the links of a content are stored once and that links in sent emails keep working.
import { expect, test } from "vitest";
import { useOutbox } from "../../testing/outbox-fixture.ts";
import { createLinkStore } from "./content-links.ts";

const outbox = useOutbox();
const [A, B, C] = [2, 4, 6].map((number) => ({ number, url: `https://a.example/${number}` })) as [
  Link,
  Link,
  Link,
];
interface Link {
  number: number;
  url: string;
}

async function contentOf(): Promise<string> {
  const [id = ""] = await outbox.enqueue([{}]);
  const row = await outbox.database
    .selectFrom("emails")
    .select("contentId")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return row.contentId;
}

const rows = () => outbox.database.selectFrom("content_links").select(["numbers", "urls"]).execute();

test("adds links found by another release and keeps existing ones unchanged", async () => {
  const contentId = await contentOf();
  const store = (...links: Link[]) =>
    createLinkStore(outbox.database)([{ projectId: outbox.projectId, contentId, queueVersion: "1", links }]);
  await store(B, A);
  await store(A, B);
  expect(await rows()).toEqual([{ numbers: [4, 2], urls: [B.url, A.url] }]);
  await store(C, B);
  const [{ numbers, urls } = { numbers: [], urls: [] }] = await rows();
  expect([A, B, C].map(({ number }) => urls[numbers.indexOf(number)])).toEqual([A.url, B.url, C.url]);
});

test("stores a content once per process, several at a time, and none without links", async () => {
  const contentId = await contentOf();
  const store = createLinkStore(outbox.database);
  const content = { projectId: outbox.projectId, contentId, queueVersion: "1" };
  await store([{ ...content, links: [] }]);
  expect(await rows()).toEqual([]);
  await store([
    { ...content, links: [A] },
    { ...content, links: [A] },
  ]);
  await store([{ ...content, links: [A, B] }]);
  expect(await rows()).toEqual([{ numbers: [2], urls: [A.url] }]);
});

test("stores the same links concurrently from eight processes", async () => {
  const contentId = await contentOf();
  const stores = Array.from({ length: 8 }, async () =>
    createLinkStore(outbox.database)([
      { projectId: outbox.projectId, contentId, queueVersion: "1", links: [A, B] },
    ]),
  );
  await Promise.all(stores);
  expect(await rows()).toEqual([{ numbers: [2, 4], urls: [A.url, B.url] }]);
});
