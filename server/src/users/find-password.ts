// Which hash of an address a password is of, with as many hashes made for every address (docs/decisions/0098).
// Before it: passwords.ts asks on its thread, password-worker.ts. After it: the hash that the account gets.

/** Verified where another address may have a hash to verify, so that it takes the same time. */
const NOBODYS_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b6dWRWJTmaaJObGQY5lM4Xr0xk";

/** What costs time: `hash` with the salt of the address, `verify` with the salt of a hash. */
export interface Hashing {
  hash(): string;
  verify(hash: string): boolean;
}

/**
 * The index of the password's hash, -1 for none, and the hash with the salt of the address.
 * @param hasOldSalts some address has a hash with another salt: one from before addresses had their own, or of an account that had another address
 */
export function findPassword(
  hashes: readonly string[],
  hasOldSalts: boolean,
  { hash: make, verify }: Hashing,
): { index: number; hash: string } {
  const hash = make();
  const saltedAlike = hash.slice(0, hash.lastIndexOf("$") + 1);
  const old = hashes.filter((each) => !each.startsWith(saltedAlike));
  if (old.length === 0 && hasOldSalts) old.push(NOBODYS_HASH);
  const matching = old.find(verify);
  return { index: hashes.findIndex((each) => each === hash || each === matching), hash };
}
