// On a thread of its own: hashes passwords and compares them. Before it: passwords.ts.
import { hashSync, verifySync } from "@node-rs/argon2";
import { answerTasks } from "../platform/task-worker.ts";
import type { PasswordResult, PasswordTask } from "./passwords.ts";

answerTasks((task: PasswordTask): PasswordResult =>
  task.hash === null
    ? { hash: hashSync(task.password, task.cost), matches: true }
    : { hash: task.hash, matches: verifySync(task.hash, task.password) },
);
