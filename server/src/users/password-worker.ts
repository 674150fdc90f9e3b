// Worker thread that hashes and compares passwords.
import { hashSync, verifySync } from "@node-rs/argon2";
import { readFileSync } from "node:fs";
import { runTasks } from "../platform/threads/task-worker.ts";
import type { PasswordResult, PasswordTask } from "./passwords.ts";

/** argon2id (the library's default, as is the random salt) at OWASP's cost: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const lines = readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const common = new Set(lines.filter((line) => !line.startsWith("#")));

runTasks((task: PasswordTask): PasswordResult => {
  if (task.verb === "compare") return { is: "compared", matches: verifySync(task.hash, task.password) };
  if (common.has(task.password.toLowerCase())) return { is: "common" };
  return { is: "hashed", hash: hashSync(task.password, COST) };
});
