// Worker thread that verifies the signatures of messages from strangers.
import { runTasks } from "../../platform/threads/task-worker.ts";
import { verifySignatures } from "./verify-signatures.ts";

runTasks(verifySignatures);
