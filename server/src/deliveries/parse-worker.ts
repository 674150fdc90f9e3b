// Worker thread that parses costly messages from strangers.
import { answerTasks } from "../platform/threads/task-worker.ts";
import { parseMessage } from "./parse-message.ts";

answerTasks(parseMessage);
