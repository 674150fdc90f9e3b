// Worker thread that generates DKIM keys, which takes a tenth of a second or more.
import { generateKeyPairSync } from "node:crypto";
import { runTasks } from "../platform/threads/task-worker.ts";
import type { NewKey } from "./dkim-keys.ts";

runTasks((bits: number): NewKey => {
  const pair = generateKeyPairSync("rsa", { modulusLength: bits });
  return {
    privatePem: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: pair.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
  };
});
