// Worker thread that parses messages of the local mailbox.
import PostalMime from "postal-mime";
import { answerTasks } from "../platform/threads/task-worker.ts";

answerTasks((raw: Uint8Array) => PostalMime.parse(raw));
