// Creates a key and a self-signed X.509 certificate at run time, for test servers only.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** PEM texts. */
export interface SelfSignedCertificate {
  key: string;
  cert: string;
}

export interface CertificateOptions {
  /** DNS names of the certificate. Default: localhost. */
  hostNames?: readonly string[];
  /** IPv4 addresses of the certificate. Default: 127.0.0.1. */
  addresses?: readonly string[];
  /** Default: from yesterday, for ten years. */
  validFrom?: Date;
  validTo?: Date;
  /** Bits of an RSA key, used instead of ECDSA P-256. */
  rsaBits?: number;
}

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SAN_DNS_NAME = 0x82;
const SAN_IP_ADDRESS = 0x87;
const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
const RSA_WITH_SHA256 = Buffer.from("06092a864886f70d01010b0500", "hex");
const COMMON_NAME = Buffer.from("0603550403", "hex");
const SUBJECT_ALT_NAME = Buffer.from("0603551d11", "hex");

/** Returns a certificate (RFC 5280 §4.1), which takes a millisecond with ECDSA P-256 and a hundred with RSA. */
export function createSelfSignedCertificate(options: CertificateOptions = {}): SelfSignedCertificate {
  const { hostNames = ["localhost"], addresses = ["127.0.0.1"] } = options;
  const validFrom = options.validFrom ?? new Date(Date.now() - DAY_MS);
  const validTo = options.validTo ?? new Date(Date.now() + 3650 * DAY_MS);
  const { rsaBits } = options;
  const { privateKey, publicKey } =
    rsaBits === undefined
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: rsaBits });
  const algorithm = der(SEQUENCE, rsaBits === undefined ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256);
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from("test server")))),
  );
  const alternativeNames = der(
    SEQUENCE,
    ...hostNames.map((hostName) => der(SAN_DNS_NAME, Buffer.from(hostName))),
    ...addresses.map((address) => der(SAN_IP_ADDRESS, Buffer.from(address.split(".").map(Number)))),
  );
  const toBeSigned = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))), // version 3
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    der(SEQUENCE, time(validFrom), time(validTo)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(SEQUENCE, der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, alternativeNames)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", toBeSigned, privateKey)]);
  const certificate = der(SEQUENCE, toBeSigned, algorithm, der(BIT_STRING, signature));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64").replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
}

/** Encodes tag, length and contents (X.690 §8.1, definite form). */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime after. */
function time(at: Date): Buffer {
  const digits = at
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  return at.getUTCFullYear() < 2050
    ? der(UTC_TIME, Buffer.from(digits.slice(2)))
    : der(GENERALIZED_TIME, Buffer.from(digits));
}
