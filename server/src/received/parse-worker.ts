// Worker thread that parses received messages.
import { runTasks } from "../platform/threads/task-worker.ts";
import { parseReceived } from "./parse-received.ts";

runTasks(parseReceived);
