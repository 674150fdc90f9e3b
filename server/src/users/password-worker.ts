// On a thread of its own: hashes passwords and compares them. Before it: passwords.ts.
import { hashSync, verifySync } from "@node-rs/argon2";
import { readFileSync } from "node:fs";
import { answerTasks } from "../platform/task-worker.ts";
import type { PasswordResult, PasswordTask } from "./passwords.ts";

/** argon2id (the library's default) at OWASP's cost: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Verified where another address may have a hash to verify, so that it takes the same time. */
const NOBODYS_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b6dWRWJTmaaJObGQY5lM4Xr0xk";

const lines = readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const common = new Set(lines.filter((line) => !line.startsWith("#")));

answerTasks((task: PasswordTask): PasswordResult => {
  if (task.verb === "compare") return { is: "compared", matches: verifySync(task.hash, task.password) };
  if (task.verb === "find") return { is: "found", ...find(task) };
  if (common.has(task.password.toLowerCase())) return { is: "common" };
  return { is: "hashed", hash: hashOf(task) };
});

const hashOf = ({ password, salt }: { password: string; salt: Uint8Array }) =>
  hashSync(password, { ...COST, salt });

/** Old salts are those from before an address had its own, and that of an account that had another address. */
function find(task: Extract<PasswordTask, { verb: "find" }>): { index: number; hash: string } {
  const hash = hashOf(task);
  const saltedAlike = hash.slice(0, hash.lastIndexOf("$") + 1);
  const old = task.hashes.filter((each) => !each.startsWith(saltedAlike));
  if (old.length === 0 && task.hasOldSalts) old.push(NOBODYS_HASH);
  const matching = old.find((each) => verifySync(each, task.password));
  return { index: task.hashes.findIndex((each) => each === hash || each === matching), hash };
}
