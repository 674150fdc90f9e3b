// The keys Amazon SNS signs with: fetched once from a checked address, looked at, kept for a while.
import { X509Certificate, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { nowMs } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { Refusal } from "../platform/refusal.ts";
import { OtherAnswer, type FetchText } from "./sns-requests.ts";

export interface SnsKeys {
  /** The key of a certificate; null when it is none of SNS, or not valid now. @throws Refusal SERVICE_UNAVAILABLE when it cannot be fetched. */
  find(url: string): Promise<KeyObject | null>;
}

interface Certificate {
  key: KeyObject;
  validFromMs: number;
  validToMs: number;
}

/** SNS has one or two a region at a time. */
const MAX_KEPT = 50;
const KEPT_MS = 24 * 3_600_000;
/** What is none is remembered too, so that nobody makes us ask again and again. */
const REFUSED_KEPT_MS = 60_000;
/** Whoever makes up addresses of certificates gets no more than this out of us. */
const MAX_FETCHES_A_MINUTE = 30;
const MINUTE_MS = 60_000;
const MIN_KEY_BITS = 2_048;
/** The certificates of SNS stand for names such as sns.amazonaws.com. */
const NAME = /(?:DNS:|CN=)(?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?(?:$|,|\n)/im;

export function createSnsKeys(fetchText: FetchText, log: Log): SnsKeys {
  const kept = new LRUCache<string, { certificate: Certificate | null }>({ max: MAX_KEPT, ttl: KEPT_MS });
  const fetching = new Map<string, Promise<Certificate | null>>();
  let minute = 0;
  let fetches = 0;

  async function fetchOne(url: string): Promise<Certificate | null> {
    const now = Math.floor(nowMs() / MINUTE_MS);
    if (now !== minute) [minute, fetches] = [now, 0];
    if (++fetches > MAX_FETCHES_A_MINUTE) throw new Error("too many certificates were asked for in a minute");
    const pem = await fetchText(url).catch((error: unknown) => {
      // "There is none", or "look elsewhere": that is an answer. "Not now" is none.
      if (error instanceof OtherAnswer && error.status < 500 && error.status !== 429) return "";
      throw error;
    });
    const certificate = readCertificate(pem);
    kept.set(url, { certificate }, certificate === null ? { ttl: REFUSED_KEPT_MS } : {});
    return certificate;
  }

  /** Those who ask at the same time wait for one answer. */
  async function load(url: string): Promise<Certificate | null> {
    const known = kept.get(url);
    if (known !== undefined) return known.certificate;
    const running = fetching.get(url) ?? fetchOne(url).finally(() => fetching.delete(url));
    fetching.set(url, running);
    return running;
  }

  return {
    async find(url) {
      const certificate = await load(url).catch((error: unknown) => {
        log.warn({ err: error, url }, "a certificate of SNS could not be fetched; SNS asks again");
        throw new Refusal("SERVICE_UNAVAILABLE", { retryAfterSeconds: 20 });
      });
      const now = nowMs();
      const isValid = certificate !== null && certificate.validFromMs <= now && now <= certificate.validToMs;
      return isValid ? certificate.key : null;
    },
  };
}

/**
 * The first certificate of a PEM text, when it can be one of SNS. There is no chain in it to follow: who it comes from was
 * proved by the TLS certificate of the host that gave it.
 */
function readCertificate(pem: string): Certificate | null {
  try {
    const certificate = new X509Certificate(pem);
    const { publicKey: key, validFromDate, validToDate, ca, subject, subjectAltName } = certificate;
    const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
    const isOfSns = !ca && bits >= MIN_KEY_BITS && NAME.test(`${subject}\n${subjectAltName ?? ""}`);
    return isOfSns ? { key, validFromMs: validFromDate.getTime(), validToMs: validToDate.getTime() } : null;
  } catch {
    // No certificate at all.
    return null;
  }
}
