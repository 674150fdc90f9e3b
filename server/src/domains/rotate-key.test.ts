// Tests changing or adding a DKIM key while emails are sent, over HTTP with a DNS server, a receiving mail server and an independent
// verifier.
import { Resolver } from "node:dns/promises";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { afterAll, expect, test } from "vitest";
import * as domains from "@postloft/contract/domains.ts";
import * as v1 from "@postloft/contract/v1.ts";
import { startDnsServer } from "../testing/dns-server.ts";
import { startSmtpSink } from "../testing/smtp-sink.ts";
import { errorOf, useTestServer } from "../testing/test-server.ts";
import type { DomainView } from "./present-domain.ts";

const dns = await startDnsServer();
const sink = await startSmtpSink();
const server = useTestServer({
  MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
  DNS_SERVERS: dns.address,
});
afterAll(async () => {
  await sink.close();
  await dns.close();
});

const resolver = new Resolver();
resolver.setServers([dns.address]);

const caller = () => server.project.byKey;
const call = async (method: string, path: string, body?: unknown) =>
  (await server.call<DomainView>(method, path, caller(), body)).body;
const verify = (id: string) => call("GET", `/domains/${id}/verify`);
const rotate = (id: string) => call("POST", `/domains/${id}/rotate-key`);
const refusedRotation = async (id: string) => {
  const reply = await server.call("POST", `/domains/${id}/rotate-key`, caller());
  return [errorOf(reply), reply.body.message];
};
const dkimOf = ({ records }: DomainView) => records.filter(({ purpose }) => purpose === "dkim");
const publish = (view: DomainView, at: number) => {
  const { name = "", value = "" } = dkimOf(view)[at] ?? {};
  dns.setTxt(name, [value]);
};

/** Sends an email and returns the received bytes. */
async function send(domain: string): Promise<Buffer> {
  const count = sink.journal.length;
  const mail = { to: "ada@example.net", from: `us@${domain}`, subject: "s", body: "b" };
  expect((await server.call(v1.send, caller(), { body: mail })).status).toBe(200);
  await sink.waitForMessages(count + 1);
  return sink.journal[count]?.raw ?? Buffer.alloc(0);
}

/** Returns the selector and whether the signature is valid, as a receiver sees it. */
async function seen(raw: Buffer): Promise<string> {
  const { results } = await dkimVerify(raw, { resolver: (name: string) => resolver.resolveTxt(name) });
  return results.map(({ selector, status }) => `${selector} ${status.result}`).join();
}

async function addVerified(domain: string): Promise<DomainView> {
  const added = await call("POST", "/domains", { domain });
  publish(added, 0);
  return verify(added.id);
}

interface KeyRow {
  hasPrivate: boolean;
  isSealed: boolean;
  secondDkimSelector: string | null;
}
const secondKey = async (id: string) =>
  (
    await server.rows<KeyRow>(
      `select second_dkim_private_key is not null as has_private, second_dkim_selector,
         position('PRIVATE'::bytea in coalesce(second_dkim_private_key, '')) = 0 as is_sealed
       from domains where id = $1`,
      id,
    )
  )[0];

test("signs with the next key only once published, and the former key verifies for a week", async () => {
  const verified = await addVerified("mail.example.com");
  const { id } = verified;
  const [first = ""] = verified.dkimTokens;
  const signedBefore = await send("mail.example.com");
  expect(await seen(signedBefore)).toBe(`${first} pass`);

  const rotated = await rotate(id);
  const second = rotated.dkimTokens[1] ?? "";
  expect(rotated).toMatchObject({ status: "VERIFIED", dkimTokens: [first, second] });
  expect(dkimOf(rotated).map(({ status, required }) => [status, required])).toEqual([
    ["FOUND", true],
    ["UNCHECKED", true],
  ]);
  expect(dkimOf(rotated)[1]?.value).not.toBe(dkimOf(rotated)[0]?.value);
  expect(await secondKey(id)).toEqual({ hasPrivate: true, isSealed: true, secondDkimSelector: second });
  expect(await refusedRotation(id)).toEqual([
    "409 CONFLICT",
    expect.stringContaining("A rotation is in progress"),
  ]);

  expect((await verify(id)).dkimTokens).toEqual([first, second]);
  expect(await seen(await send("mail.example.com"))).toBe(`${first} pass`);
  dns.setTxt(dkimOf(rotated)[1]?.name ?? "", ["v=DKIM1; p=AAAA"]);
  expect(dkimOf(await verify(id)).map(({ status }) => status)).toEqual(["FOUND", "MISMATCH"]);
  expect(await seen(await send("mail.example.com"))).toBe(`${first} pass`);

  publish(rotated, 1);
  const switched = await verify(id);
  expect(switched).toMatchObject({ status: "VERIFIED", dkimTokens: [second, first] });
  expect(dkimOf(switched).map(({ status, required }) => [status, required])).toEqual([
    ["FOUND", true],
    ["FOUND", false],
  ]);
  expect(await seen(await send("mail.example.com"))).toBe(`${second} pass`);
  expect(await seen(signedBefore)).toBe(`${first} pass`);
  expect(await secondKey(id)).toEqual({ hasPrivate: false, isSealed: true, secondDkimSelector: first });
  const until = new Date(Date.now() + 7 * 24 * 3_600_000).toISOString().slice(0, 10);
  expect(dkimOf(switched)[1]?.advice).toContain(`Keep this record until ${until}`);
  expect(await refusedRotation(id)).toEqual(["409 CONFLICT", expect.stringContaining(`until ${until}`)]);
});

test("drops the former key after a week and allows the next rotation", async () => {
  const { id, dkimTokens } = await addVerified("week.example.com");
  publish(await rotate(id), 1);
  const [second, first] = (await verify(id)).dkimTokens;
  expect(first).toBe(dkimTokens[0]);
  await server.rows("update domains set second_dkim_until = now() where id = $1", id);
  const listed = await server.call(domains.listDomains, caller(), { params: { projectId: "current" } });
  expect(listed.body.find((one) => one.id === id)?.dkimTokens).toEqual([second]);
  const rotated = await rotate(id);
  expect(rotated.dkimTokens).toEqual([second, expect.any(String)]);
  publish(rotated, 1);
  await verify(id);
  await server.rows("update domains set second_dkim_until = now() where id = $1", id);
  expect((await verify(id)).dkimTokens).toEqual([rotated.dkimTokens[1]]);
  expect(await secondKey(id)).toEqual({ hasPrivate: false, isSealed: true, secondDkimSelector: null });
});

test("loses nothing when the next key replaces the former one in DNS", async () => {
  const added = await addVerified("swap.example.com");
  const rotated = await rotate(added.id);
  dns.setTxt(dkimOf(added)[0]?.name ?? "", []);
  publish(rotated, 1);
  const switched = await verify(added.id);
  expect(switched).toMatchObject({ status: "VERIFIED", lastError: null });
  expect(dkimOf(switched).map(({ status }) => status)).toEqual(["FOUND", "MISSING"]);
  expect(await seen(await send("swap.example.com"))).toBe(`${rotated.dkimTokens[1]} pass`);
});

test("drops a never verified key as soon as the next one is published", async () => {
  const added = await call("POST", "/domains", { domain: "early.example.com" });
  const rotated = await rotate(added.id);
  publish(rotated, 1);
  expect(await verify(added.id)).toMatchObject({
    status: "VERIFIED",
    dkimTokens: [rotated.dkimTokens[1]],
  });
});

test("a missing former key is no failed check while DNS gives no answer for the next key", async () => {
  const added = await addVerified("trouble.example.com");
  const rotated = await rotate(added.id);
  dns.setTxt(dkimOf(added)[0]?.name ?? "", []);
  dns.setReply(dkimOf(rotated)[1]?.name ?? "", (query) => {
    const reply = Buffer.from(query.subarray(0, 12));
    reply.writeUInt16BE(0x8502, 2);
    reply.writeUInt16BE(0, 10);
    return Buffer.concat([reply, query.subarray(12)]);
  });
  expect((await verify(added.id)).lastError).toMatch(/^DNS did not respond/);
});

test("starts only one of two concurrent rotations", async () => {
  const { id } = await addVerified("twice.example.com");
  const replies = await Promise.all(
    [1, 2, 3].map(() => server.call(domains.rotateDomainKey, caller(), { params: { id } })),
  );
  expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
});

test("rejects rotating the key of another project's domain", async () => {
  const { id } = await addVerified("foreign.example.com");
  const stranger = await server.createProject();
  const reply = await server.call(domains.rotateDomainKey, stranger.byKey, { params: { id } });
  expect(errorOf(reply)).toBe("404 DOMAIN_NOT_FOUND");
});

const setEd25519 = (id: string, ed25519: boolean) => call("PATCH", `/domains/${id}`, { ed25519 });

test("an Ed25519 key signs in addition while published, also during a rotation, until disabled", async () => {
  const added = await addVerified("two.example.com");
  const { id } = added;
  const [rsa = ""] = added.dkimTokens;
  expect(added.ed25519).toBe(false);
  const wanted = await setEd25519(id, true);
  const [, ed = ""] = wanted.dkimTokens;
  expect(wanted).toMatchObject({ ed25519: true, dkimTokens: [rsa, ed], verified: true });
  expect(dkimOf(wanted)[1]).toMatchObject({
    name: `${ed}._domainkey.two.example.com`,
    value: expect.stringMatching(/^v=DKIM1; k=ed25519; p=[\w+/]{43}=$/),
    required: false,
    status: "UNCHECKED",
  });
  expect((await setEd25519(id, true)).dkimTokens).toEqual([rsa, ed]);
  expect(await seen(await send("two.example.com"))).toBe(`${rsa} pass`);
  expect(await verify(id)).toMatchObject({ lastError: null });
  expect(await seen(await send("two.example.com"))).toBe(`${rsa} pass`);

  publish(wanted, 1);
  expect(dkimOf(await verify(id))[1]).toMatchObject({ status: "FOUND", advice: null });
  expect(await seen(await send("two.example.com"))).toBe(`${rsa} pass,${ed} pass`);

  const rotated = await rotate(id);
  const next = rotated.dkimTokens[1] ?? "";
  expect(rotated.dkimTokens).toEqual([rsa, next, ed]);
  publish(rotated, 1);
  await verify(id);
  expect(await seen(await send("two.example.com"))).toBe(`${next} pass,${ed} pass`);

  dns.setTxt(dkimOf(wanted)[1]?.name ?? "", []);
  expect(await verify(id)).toMatchObject({ verified: true, lastError: null });
  expect(await seen(await send("two.example.com"))).toBe(`${next} pass`);
  publish(wanted, 1);
  await verify(id);
  expect(await setEd25519(id, false)).toMatchObject({ ed25519: false, dkimTokens: [next, rsa] });
  expect(await seen(await send("two.example.com"))).toBe(`${next} pass`);
  const again = await setEd25519(id, true);
  expect(again.dkimTokens).toEqual([next, rsa, expect.not.stringMatching(ed)]);
});

test("encrypts the private Ed25519 key and rejects changes to another project's domain", async () => {
  const { id } = await addVerified("sealed.example.com");
  await setEd25519(id, true);
  const stranger = await server.createProject();
  const reply = await server.call(domains.updateDomain, stranger.byKey, {
    params: { id },
    body: { ed25519: false },
  });
  expect(errorOf(reply)).toBe("404 DOMAIN_NOT_FOUND");
  expect(
    await server.rows(
      `select position('PRIVATE'::bytea in ed25519_private_key) = 0 as is_sealed from domains where id = $1`,
      id,
    ),
  ).toEqual([{ isSealed: true }]);
});
