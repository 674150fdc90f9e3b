// Simulates an authenticator in tests, with real keys and signatures (WebAuthn §6.1, §6.5.4, RFC 9052) and false data on request.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const CREDENTIAL_INCLUDED = 0x40;
const COORDINATE_BYTES = 32;

const sha256 = (data: Buffer | string) => createHash("sha256").update(data).digest();
const base64Url = (data: Buffer | string) => Buffer.from(data).toString("base64url");

/** The data of browser and authenticator, each part of which may be false. */
export interface Said {
  origin: string;
  rpId: string;
  challenge: string;
  isVerified?: boolean;
  /** The value of the authenticator's counter. */
  count?: number;
  userHandle?: string;
  /** Signs for another ceremony type. */
  type?: string;
}

export interface SoftPasskey {
  readonly id: string;
  /** Returns the result of `navigator.credentials.create`. */
  register(said: Said, attestation?: Readonly<Record<string, CborValue>>): object;
  /** Returns the result of `navigator.credentials.get`. */
  show(said: Said): Shown;
}

export interface Shown {
  id: string;
  type: "public-key";
  response: { clientDataJSON: string; authenticatorData: string; signature: string; userHandle: string };
}

type CborValue = number | string | Buffer | CborValue[] | Map<number | string, CborValue>;

/** Creates an ES256 passkey for the account with this handle. */
export function createSoftPasskey(userHandle: string): SoftPasskey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const credentialId = randomBytes(32);
  const id = base64Url(credentialId);
  return {
    id,
    register(said, attestation = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)]);
      const authData = Buffer.concat([authenticatorData(said, CREDENTIAL_INCLUDED), credential]);
      const statement = new Map<number | string, CborValue>(Object.entries(attestation));
      const attestationObject = cbor(
        new Map<number | string, CborValue>([
          ["fmt", statement.size === 0 ? "none" : "packed"],
          ["attStmt", statement],
          ["authData", authData],
        ]),
      );
      const clientDataJSON = base64Url(clientData({ type: "webauthn.create", ...said }));
      return {
        id,
        type: "public-key",
        response: { clientDataJSON, attestationObject: base64Url(attestationObject), transports: ["usb"] },
      };
    },
    show(said) {
      const clientDataJSON = clientData({ type: "webauthn.get", ...said });
      const data = authenticatorData(said, 0);
      return {
        id,
        type: "public-key",
        response: {
          clientDataJSON: base64Url(clientDataJSON),
          authenticatorData: base64Url(data),
          signature: base64Url(signed(privateKey, Buffer.concat([data, sha256(clientDataJSON)]))),
          userHandle: said.userHandle ?? userHandle,
        },
      };
    },
  };
}

function signed(key: KeyObject, data: Buffer): Buffer {
  return sign("sha256", data, key);
}

function clientData({ type, challenge, origin }: Said): string {
  return JSON.stringify({ type, challenge, origin, crossOrigin: false });
}

function authenticatorData({ rpId, isVerified = true, count = 0 }: Said, more: number): Buffer {
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(count);
  const flags = USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | more;
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter]);
}

function coordinate(text: string): Buffer {
  const bytes = Buffer.from(text, "base64url");
  return Buffer.concat([Buffer.alloc(COORDINATE_BYTES - bytes.length), bytes]);
}

/** Encodes an elliptic curve key with two coordinates (RFC 9053 §7.1.1). */
function coseKey(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  return cbor(
    new Map<number | string, CborValue>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, coordinate(x)],
      [-3, coordinate(y)],
    ]),
  );
}

/** Encodes the subset of CBOR (RFC 8949) that authenticators use. */
function cbor(value: CborValue): Buffer {
  if (typeof value === "number") return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([cborHead(3, bytes.length), bytes]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([cborHead(4, value.length), ...value.map(cbor)]);
  const entries = [...value].flatMap(([name, one]) => [cbor(name), cbor(one)]);
  return Buffer.concat([cborHead(5, value.size), ...entries]);
}

function cborHead(major: number, length: number): Buffer {
  const type = major << 5;
  if (length < 24) return Buffer.from([type | length]);
  if (length < 256) return Buffer.from([type | 24, length]);
  return Buffer.from([type | 25, length >> 8, length & 255]);
}
