// The data of a contact as JSON, edited as a whole: what is not understood is said before it is sent.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { updateContact } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useUndoToast } from "../use-undo.ts";

interface ContactDataProps {
  projectId: string;
  id: string;
  data: Record<string, unknown>;
}

export function ContactData({ projectId, id, data }: ContactDataProps) {
  const queries = useQueryClient();
  const done = useUndoToast(projectId);
  const stored = JSON.stringify(data, null, 2);
  const [text, setText] = useState(stored);
  const read = parseObject(text);
  // A key that was taken out is cleared by null: what is not named stays.
  const change = (from: ContactDataProps["data"], to: ContactDataProps["data"]) =>
    call(updateContact, { projectId, params: { id }, body: { data: withCleared(from, to) } });
  const saving = useMutation({
    mutationFn: (to: ContactDataProps["data"]) => change(data, to),
    onSuccess: async (_contact, to) => {
      await queries.invalidateQueries({ queryKey: ["project", projectId] });
      done(t("Data saved"), { undo: () => change(to, data) });
    },
  });
  return (
    <Card className="p-5">
      <h2 className="font-medium">{t("Data")}</h2>
      <p id="contact-data-help" className="text-sm text-soft">
        {t("Your own fields, as JSON. Templates and segments read them by name.")}
      </p>
      <textarea
        aria-label={t("Data as JSON")}
        aria-describedby="contact-data-help"
        aria-invalid={read === null}
        spellCheck={false}
        rows={Math.min(20, Math.max(5, text.split("\n").length))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="mt-3 w-full rounded-md border border-line-strong bg-page px-3 py-2.5 font-mono text-xs leading-5 focus:border-accent focus:ring-3 focus:ring-accent-wash focus:outline-none aria-invalid:border-bad"
      />
      {saving.isError && <Failure error={saving.error} />}
      <div className="mt-2 flex items-center justify-between gap-3">
        <span className="text-sm text-bad" role="status">
          {read === null && t("This is not a JSON object yet.")}
        </span>
        {text !== stored && (
          <div className="flex gap-2">
            <Button look="quiet" onClick={() => setText(stored)}>
              {t("Discard")}
            </Button>
            <Button
              look="primary"
              busy={saving.isPending}
              disabled={read === null}
              onClick={() => saving.mutate(read ?? {})}
            >
              {t("Save data")}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}

/** The object a text holds; null when it holds none. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function withCleared(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> {
  const gone = Object.keys(before).filter((name) => !(name in after));
  return { ...after, ...Object.fromEntries(gone.map((name) => [name, null])) };
}
