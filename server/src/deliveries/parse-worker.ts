// Worker thread that parses costly messages from strangers.
import { runTasks } from "../platform/threads/task-worker.ts";
import { parseMessage } from "./parse-message.ts";

runTasks(parseMessage);
