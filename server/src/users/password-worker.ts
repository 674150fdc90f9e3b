// On a thread of its own: hashes passwords and compares them. Before it: passwords.ts.
import { hashSync, verifySync } from "@node-rs/argon2";
import { readFileSync } from "node:fs";
import { answerTasks } from "../platform/task-worker.ts";
import type { PasswordResult, PasswordTask } from "./passwords.ts";

const lines = readFileSync(new URL("./common-passwords.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const common = new Set(lines.filter((line) => !line.startsWith("#")));

answerTasks((task: PasswordTask): PasswordResult => {
  if (task.hash !== null) return { is: "compared", matches: verifySync(task.hash, task.password) };
  if (common.has(task.password.toLowerCase())) return { is: "common" };
  return { is: "hashed", hash: hashSync(task.password, task.cost) };
});
