// Worker thread that lints long message templates.
import { answerTasks } from "../platform/threads/task-worker.ts";
import { lintContent } from "./lint-content.ts";

answerTasks(lintContent);
