// Checks who sent a message with SPF, DKIM and DMARC (docs/decisions/0160-sender-checks.md). No result stops a message from being stored.
import { parseDomain } from "@postloft/contract/address.ts";
import { senderChecks } from "@postloft/contract/received-emails.ts";
import { dmarc } from "mailauth/lib/dmarc/index.js";
import { spf } from "mailauth/lib/spf/index.js";
import type { Dns } from "../../platform/dns.ts";
import { readText } from "../../platform/foreign-values.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import type { Log } from "../../platform/log.ts";
import { createTaskThread, type TaskThread } from "../../platform/threads/task-thread.ts";
import { headerLength } from "../read-incoming.ts";
import { limitedResolver, type Resolve } from "./resolver.ts";
import type { SenderChecks } from "./proves-domain.ts";
import type { FoundKey, Signature, SignatureTask, VerifiedMessage } from "./verify-signatures.ts";

/** A message with the connection that brought it. */
export interface ToCheck {
  raw: Buffer;
  remoteAddress: string;
  /** The name that the client gave itself. */
  helo: string;
  /** The envelope sender, '' for the empty reverse-path. */
  sender: string;
}

export interface SenderChecker {
  /** Returns the results after at most ten seconds. Never throws. */
  check(message: ToCheck): Promise<SenderChecks>;
  /** Ends the thread. */
  close(): Promise<void>;
}

const DNS_LIMIT_MS = 6_000;
/** Includes the wait for the thread. */
const LIMIT_MS = 10_000;
/** CPU time of each step on the thread. */
const DEADLINE_MS = 2_000;
const MAX_DOMAIN_LENGTH = 253;

const UNKNOWN: SenderChecks = {
  spf: { result: "temperror", domain: null },
  dkim: [],
  dmarc: { result: "temperror", domain: null, policy: null },
};

export function createSenderChecker({ dns, name, log }: { dns: Dns; name: string; log: Log }): SenderChecker {
  const thread = createTaskThread<SignatureTask, VerifiedMessage>({
    module: new URL("./signature-worker.ts", import.meta.url),
    deadlineMs: DEADLINE_MS,
    waitingPerOwner: 20,
    waiting: 100,
  });

  async function checkAll(message: ToCheck, resolve: Resolve, signal: AbortSignal): Promise<SenderChecks> {
    const [envelope, signed] = await Promise.all([
      checkSpf(message, resolve, name),
      verify(thread, message, resolve, signal).catch((error: unknown) => {
        log.debug({ err: error }, "failed to verify the signatures of a message");
        return null;
      }),
    ]);
    if (signed === null) return { ...UNKNOWN, spf: envelope };
    return {
      spf: envelope,
      dkim: signed.signatures.map(presentSignature),
      dmarc: await checkDmarc(envelope, signed, resolve),
    };
  }

  return {
    async check(message) {
      const resolver = limitedResolver(dns, DNS_LIMIT_MS);
      const ended = new AbortController();
      const late = Promise.withResolvers<SenderChecks>();
      const timer = setTimeout(() => late.resolve(UNKNOWN), LIMIT_MS);
      try {
        return await Promise.race([checkAll(message, resolver.resolve, ended.signal), late.promise]);
      } catch (error) {
        log.warn({ err: error }, "failed to check the sender of a message");
        return UNKNOWN;
      } finally {
        clearTimeout(timer);
        ended.abort();
        resolver.close();
      }
    },
    close: () => thread.close(),
  };
}

async function checkSpf(
  { remoteAddress: ip, helo, sender }: ToCheck,
  resolver: Resolve,
  mta: string,
): Promise<SenderChecks["spf"]> {
  const { domain, status } = await spf({ ip, helo, sender, mta, resolver });
  const result = senderChecks.shape.spf.shape.result.safeParse(status.result);
  return { result: result.data ?? "temperror", domain: readDomain(domain) };
}

/** Asks for the keys that the header names, and then verifies the whole message. */
async function verify(
  thread: TaskThread<SignatureTask, VerifiedMessage>,
  { raw, remoteAddress }: ToCheck,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<VerifiedMessage> {
  const owner = networkOf(remoteAddress);
  const run = (part: Buffer, keys: SignatureTask["keys"]) =>
    thread.run(owner, async () => {
      // The caller frees the memory of the message when the time is up.
      signal.throwIfAborted();
      return { raw: part, keys };
    });
  const header = raw.subarray(0, headerLength(raw) ?? raw.length);
  const named = await run(Buffer.concat([header, Buffer.from("\r\n\r\n")]), new Map());
  if (named.signatures.length === 0) return named;
  const names = [...new Set(named.signatures.map(({ keyName }) => keyName))];
  const found = await Promise.all(names.map(async (one) => [one, await findKey(one, resolve)] as const));
  return run(raw, new Map(found));
}

async function findKey(name: string, resolve: Resolve): Promise<FoundKey> {
  try {
    return (await resolve(name, "TXT")).flat();
  } catch (error) {
    return { code: (error as { code?: string }).code ?? "ESERVFAIL" };
  }
}

async function checkDmarc(
  envelope: SenderChecks["spf"],
  { authors, fromFields, signatures }: VerifiedMessage,
  resolver: Resolve,
): Promise<SenderChecks["dmarc"]> {
  const passed = signatures.filter(isWhole);
  const evaluated = await dmarc({
    headerFrom: authors,
    fromFields,
    spfDomains: envelope.result === "pass" && envelope.domain !== null ? [envelope.domain] : [],
    dkimDomains: passed.map(({ domain, underSized }) => ({ domain, underSized })),
    resolver,
  });
  if (evaluated === false) return { result: "none", domain: null, policy: null };
  const { result } = senderChecks.shape.dmarc.shape;
  const found = result.safeParse(evaluated.status.result).data ?? "temperror";
  const isUndecided = [envelope.result, ...signatures.map((one) => one.result)].includes("temperror");
  return {
    // A key or record that DNS did not return could have made it pass.
    result: found === "fail" && isUndecided ? "temperror" : found,
    domain: readDomain(evaluated.status.header?.from),
    policy: senderChecks.shape.dmarc.shape.policy.safeParse(evaluated.policy).data ?? null,
  };
}

/** Returns whether a signature passed and covers the whole body. With `l=` anyone could have appended to it (RFC 6376 §8.2). */
const isWhole = ({ result, underSized }: Signature) => result === "pass" && underSized === 0;

function presentSignature(signature: Signature): SenderChecks["dkim"][number] {
  const { domain, result } = signature;
  const shown = result === "pass" && !isWhole(signature) ? "policy" : result;
  const known = senderChecks.shape.dkim.element.shape.result.safeParse(shown);
  return { result: known.data ?? "permerror", domain: readDomain(domain) ?? "" };
}

/** Returns a domain in canonical form, or the beginning of what a stranger wrote instead. */
function readDomain(text: unknown): string | null {
  const parsed = parseDomain(typeof text === "string" ? text : "");
  return parsed.ok ? parsed.domain : readText(text, MAX_DOMAIN_LENGTH);
}
