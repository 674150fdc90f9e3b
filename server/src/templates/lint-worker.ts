// On a thread of its own: lints long contents.
import { answerTasks } from "../platform/threads/task-worker.ts";
import { lintContent } from "./lint-content.ts";

answerTasks(lintContent);
