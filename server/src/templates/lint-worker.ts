// On a thread of its own: lints long contents.
import { answerTasks } from "../platform/task-worker.ts";
import { lintContent } from "./lint-content.ts";

answerTasks(lintContent);
