// On a thread of its own: takes messages of strangers apart that cost much.
import { answerTasks } from "../platform/threads/task-worker.ts";
import { parseMessage } from "./parse-message.ts";

answerTasks(parseMessage);
