// Lists what to check in a draft, above its email. The list is closed at first, so that the email doesn't move while its author types.
import { ChevronDown, CircleCheck, TriangleAlert } from "lucide-react";
import { plural, t } from "../../text/t.ts";
import { Said } from "../../ui/said.tsx";

/** Shows the number of findings and the first one, and the rest on request. */
export function FindingsBar({ messages }: { messages: readonly string[] }) {
  const different = [...new Set(messages)];
  const [first] = different;
  if (first === undefined)
    return (
      <p role="status" className="mb-2 flex min-h-9 items-center gap-2 px-3 text-sm text-soft">
        <CircleCheck size={15} className="shrink-0 text-good" aria-hidden /> {t("No issues found.")}
      </p>
    );
  return (
    <details className="group mb-2 rounded-md bg-warn-wash text-sm">
      <summary className="flex min-h-9 cursor-pointer items-center gap-2 rounded-md px-3">
        <TriangleAlert size={15} className="shrink-0 text-warn" aria-hidden />
        <span role="status" className="shrink-0 font-medium">
          {plural(different.length, "{n} thing to check", "{n} things to check")}
        </span>
        <span className="min-w-0 flex-1 truncate text-soft group-open:invisible">
          <Said>{first}</Said>
        </span>
        <ChevronDown size={14} className="shrink-0 text-soft group-open:rotate-180" aria-hidden />
      </summary>
      <ul className="flex list-disc flex-col gap-1 pt-1 pr-3 pb-3 pl-9 wrap-anywhere">
        {different.map((message) => (
          <li key={message}>
            <Said>{message}</Said>
          </li>
        ))}
      </ul>
    </details>
  );
}
