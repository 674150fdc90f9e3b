// On a thread of its own: takes messages of the local mailbox apart.
import PostalMime from "postal-mime";
import { answerTasks } from "../platform/threads/task-worker.ts";

answerTasks((raw: Uint8Array) => PostalMime.parse(raw));
