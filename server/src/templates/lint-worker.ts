// Worker thread that lints long message templates.
import { runTasks } from "../platform/threads/task-worker.ts";
import { lintContent } from "./lint-content.ts";

runTasks(lintContent);
