// Authenticator codes (RFC 6238 over RFC 4226) with the values every app supports: SHA-1, 6 digits, 30 seconds. Pure.
import { createHmac } from "node:crypto";
import { isSameSecret } from "../../platform/crypto.ts";

const STEP_MS = 30_000;
const DIGITS = 6;
/** Accepts codes of this many steps before and after now, because clocks differ and people type slowly (RFC 6238 §5.2). */
const DRIFT_STEPS = 1;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BITS_PER_CHARACTER = 5;

/** RFC 4648 §6 without padding, as apps and people write it. */
export function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(BITS_PER_CHARACTER, "0"), 2)]).join("");
}

/** RFC 4226 §5.3. */
export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** Returns the time step of a code near `atMs`, or null if it matches none. */
export function stepOf(secret: Buffer, code: string, atMs: number): number | null {
  const now = Math.floor(atMs / STEP_MS);
  let found: number | null = null;
  // Compares all steps, so that the time taken reveals nothing.
  for (let step = now - DRIFT_STEPS; step <= now + DRIFT_STEPS; step++)
    if (isSameSecret(code, codeAt(secret, step))) found = step;
  return found;
}

/** Returns the URI for the QR code. */
export function otpauthUri(secret: Buffer, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
