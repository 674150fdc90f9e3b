// Edits a contact's data as JSON. Validates before saving and sends only changed keys.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { projectKey } from "../../../api/query-key.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/states.tsx";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { useUndoToast } from "../../use-undo.ts";
import { areNumbersKept } from "./exact-numbers.ts";
import { PROBLEMS } from "./field-words.ts";

type Data = Record<string, unknown>;

interface DataAsJsonProps {
  projectId: string;
  id: string;
  data: Data;
}

/** Unsaved text. If the contact changes elsewhere, the text stays and does not revert that change. */
interface Draft {
  /** The data when editing began. */
  base: Data;
  text: string;
}

export function DataAsJson({ projectId, id, data }: DataAsJsonProps) {
  const queries = useQueryClient();
  const done = useUndoToast(projectId);
  const [draft, setDraft] = useState<Draft | null>(null);
  const base = draft?.base ?? data;
  const text = draft?.text ?? textOf(data);
  const read = parseObject(text);
  const isKept = read === null || areNumbersKept(text);
  useLeaveWarning(draft !== null);
  const change = (from: Data, to: Data) =>
    call(api.contacts.update, { projectId, params: { id }, body: { data: patchOf(from, to) } });
  const saving = useMutation({
    mutationFn: ({ to }: { to: Data; sent: string }) => change(base, to),
    onSuccess: async (_contact, { to, sent }) => {
      await queries.invalidateQueries({ queryKey: projectKey(projectId) });
      // Text typed while saving is a change of the saved data.
      setDraft((now) => (now === null || now.text === sent ? null : { base: to, text: now.text }));
      done(t("Data saved"), { undo: () => change(to, base) });
    },
  });
  return (
    <div className="px-5 pb-4">
      <p id="contact-data-help" className="text-sm text-soft">
        {t("Custom fields as JSON. Templates and segments use their names.")}
      </p>
      <textarea
        aria-label={t("Data as JSON")}
        aria-describedby="contact-data-help"
        aria-invalid={read === null || !isKept}
        spellCheck={false}
        rows={Math.min(20, Math.max(5, text.split("\n").length))}
        value={text}
        onChange={({ target }) =>
          setDraft(target.value === textOf(base) ? null : { base, text: target.value })
        }
        className="mt-3 w-full rounded-md border border-line-strong bg-page px-3 py-2.5 font-mono text-xs leading-5 focus:border-accent focus:ring-3 focus:ring-accent-wash focus:outline-none aria-invalid:border-bad"
      />
      {saving.isError && <Failure error={saving.error} />}
      <div className="mt-2 flex items-center justify-between gap-3">
        <span className="text-sm text-bad" role="status">
          {read === null && t("Not a valid JSON object yet.")}
          {!isKept && PROBLEMS.inexact}
        </span>
        {draft !== null && (
          <div className="flex gap-2">
            <Button look="quiet" onClick={() => setDraft(null)}>
              {t("Discard")}
            </Button>
            <Button
              look="primary"
              busy={saving.isPending}
              disabled={read === null || !isKept}
              onClick={() => saving.mutate({ to: read ?? {}, sent: text })}
            >
              {t("Save data")}
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}

function textOf(data: Data): string {
  return JSON.stringify(data, null, 2);
}

/** Returns the object in a JSON text, or null if there is none. */
function parseObject(text: string): Data | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Data) : null;
  } catch {
    return null;
  }
}

/** Returns the patch from one object to another. Removed keys are cleared with null. */
function patchOf(before: Data, after: Data): Data {
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null])]);
}
