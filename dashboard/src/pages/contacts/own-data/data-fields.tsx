// Lists a contact's data with one row per field, editable in place, and a switch to JSON.
import { useQuery } from "@tanstack/react-query";
import { Pencil, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/page.tsx";
import { Failure } from "../../../ui/states.tsx";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { fieldsQuery, type ContactField } from "../field-queries.ts";
import { AddField } from "./add-field.tsx";
import { DataAsJson } from "./data-as-json.tsx";
import { knownFields } from "./field-choice.tsx";
import { draftOf, kindOf, readDraft, type Kind } from "./field-value.ts";
import { formatValue, PROBLEMS } from "./field-words.ts";
import { errorOf, useFieldChange } from "./use-field-change.ts";
import { ValueForm } from "./value-form.tsx";

interface DataFieldsProps {
  projectId: string;
  id: string;
  data: Record<string, unknown>;
}

export function DataFields({ projectId, id, data }: DataFieldsProps) {
  const fields = useQuery(fieldsQuery(projectId));
  const add = useRef<HTMLButtonElement>(null);
  const known = knownFields(fields.data);
  const names = Object.keys(data).toSorted((one, other) => one.localeCompare(other));
  return (
    <Card>
      <header className="border-b border-line px-5 py-4">
        <h2 className="font-medium">{t("Data")}</h2>
        <p className="text-sm text-soft">{t("Custom fields. Templates and segments use their names.")}</p>
      </header>
      {fields.isError && (
        <div className="px-5 pt-4">
          <Failure error={fields.error} onRetry={() => void fields.refetch()} />
        </div>
      )}
      {names.length === 0 && <p className="px-5 py-4 text-sm text-soft">{t("No values yet.")}</p>}
      <ul aria-label={t("Data")} className="divide-y divide-line">
        {names.map((name) => (
          <FieldRow
            key={name}
            projectId={projectId}
            id={id}
            name={name}
            value={data[name]}
            type={known.get(name)}
            onRemove={() => add.current?.focus()}
          />
        ))}
      </ul>
      <AddField projectId={projectId} id={id} data={data} known={known} button={add} />
      <details className="border-t border-line">
        <summary className="cursor-pointer px-5 py-3 text-sm font-medium hover:bg-hover">
          {t("Data as JSON")}
        </summary>
        <DataAsJson key={id} projectId={projectId} id={id} data={data} />
      </details>
    </Card>
  );
}

/** Same size as the input that replaces the value, so that the layout does not shift. */
const ROW =
  "grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-3 px-5 py-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)_auto]";
const NAME = "py-1.5 text-sm text-soft wrap-anywhere max-sm:col-span-2 max-sm:pb-0";

interface FieldRowProps {
  projectId: string;
  id: string;
  name: string;
  value: unknown;
  type: ContactField["type"] | undefined;
  onRemove: () => void;
}

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
function FieldRow({ projectId, id, name, value, type, onRemove }: FieldRowProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<string>();
  const changing = useFieldChange(projectId, id);
  const edit = useRef<HTMLButtonElement>(null);
  const kind = kindOf(value, type);
  const isChanged = draft !== null && draft !== draftOf(value, kind);
  useLeaveWarning(isChanged);
  const change = (typed: string | null) => {
    setDraft(typed);
    setProblem(undefined);
    changing.reset();
  };
  const close = () => {
    flushSync(() => change(null));
    edit.current?.focus();
  };
  const save = () => {
    if (!isChanged) return close();
    const read = readDraft(draft, kind);
    if ("problem" in read) return setProblem(PROBLEMS[read.problem]);
    changing.mutate({ name, value: read.value, before: value }, { onSuccess: close });
  };
  const appError = errorOf(changing.error);
  if (draft !== null)
    return (
      <li>
        <ValueForm
          className={ROW}
          kind={kind}
          label={name}
          name={name}
          draft={draft}
          onDraft={change}
          problem={problem ?? appError}
          isBusy={changing.isPending}
          hasFocus
          onSave={save}
          onCancel={close}
        >
          <bdi className={NAME}>{name}</bdi>
        </ValueForm>
      </li>
    );
  return (
    <li className={ROW}>
      <bdi className={NAME}>{name}</bdi>
      <div className="min-w-0 py-1">
        <Value value={value} kind={kind} />
        {appError !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {appError}
          </p>
        )}
      </div>
      <div className="-mr-3 flex">
        <Button
          ref={edit}
          look="quiet"
          aria-label={t("Edit {name}", { name })}
          onClick={() => change(draftOf(value, kind))}
        >
          <Pencil size={15} aria-hidden />
        </Button>
        <Button
          look="quiet"
          aria-label={t("Remove {name}", { name })}
          busy={changing.isPending}
          onClick={() => {
            onRemove();
            changing.mutate({ name, value: null, before: value });
          }}
        >
          <Trash2 size={15} aria-hidden />
        </Button>
      </div>
    </li>
  );
}

function Value({ value, kind }: { value: unknown; kind: Kind }) {
  const text = formatValue(value, kind);
  switch (kind) {
    case "day":
    case "instant":
      return (
        <time dateTime={String(value)} title={String(value)}>
          {text}
        </time>
      );
    case "json":
      return <code className="line-clamp-2 font-mono text-xs leading-6 wrap-anywhere">{text}</code>;
    default:
      return (
        <p dir="auto" className="line-clamp-3 text-left wrap-anywhere whitespace-pre-wrap tabular-nums">
          {text}
        </p>
      );
  }
}
