// Worker thread that parses messages of the local mailbox.
import PostalMime from "postal-mime";
import { runTasks } from "../platform/threads/task-worker.ts";

runTasks((raw: Uint8Array) => PostalMime.parse(raw));
