// What is in a segment, said by conditions: with the count of who matches now, some of them, and why one contact does or does not.
// Before it: segment-page.tsx. After it: condition-builder/, who-matches.tsx.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { call, CallError, problemWith } from "../../api/call.ts";
import { createSegment, updateSegment } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Field, Select } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { ConditionBuilder } from "./condition-builder/condition-builder.tsx";
import { nameIn, useFieldGroups, type FieldGroup } from "./condition-builder/fields.ts";
import { isComplete, NEW_FILTER } from "./condition-builder/tree.ts";
import { sentenceOf } from "./condition-builder/words.ts";
import type { Segment } from "./segments-page.tsx";
import { WhoMatches } from "./who-matches.tsx";

interface EditorProps {
  projectId: string;
  /** Null: a new one. */
  segment: Segment | null;
}

interface Draft {
  name: string;
  type: Segment["type"];
  filters: Filter;
  trackMembership: boolean;
}

function draftOf(segment: Segment | null): Draft {
  return {
    name: segment?.name ?? "",
    type: segment?.type ?? "DYNAMIC",
    filters: (segment?.filters as Filter | null | undefined) ?? NEW_FILTER,
    trackMembership: segment?.trackMembership ?? false,
  };
}

function useSaving(projectId: string, segment: Segment | null, draft: Draft) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const { name, type, filters, trackMembership } = draft;
  const condition = type === "DYNAMIC" ? { filters, trackMembership } : {};
  return useMutation({
    mutationFn: () =>
      segment === null
        ? call(createSegment, { projectId, body: { name, type, ...condition } })
        : call(updateSegment, { projectId, params: { id: segment.id }, body: { name, ...condition } }),
    onSuccess: async ({ id }) => {
      if (segment === null)
        await navigate({
          to: "/$projectId/segments/$segmentId",
          params: { projectId, segmentId: id },
          ignoreBlocker: true,
        });
      await queries.invalidateQueries({ queryKey: ["project", projectId, "segments"] });
      toast(t("Segment saved"), name);
    },
  });
}

export function SegmentEditor({ projectId, segment }: EditorProps) {
  const [stored] = useState(() => draftOf(segment));
  const [draft, setDraft] = useState(stored);
  const groups = useFieldGroups(projectId, segment?.id);
  const saving = useSaving(projectId, segment, draft);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(stored);
  useLeaveWarning(isChanged && !saving.isSuccess);
  const isWhole = draft.name.trim() !== "" && (draft.type === "STATIC" || isComplete(draft.filters));
  const isOfName = problemWith(saving.error, "name") !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form onSubmit={submit} noValidate className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex flex-col gap-5">
        {saving.isError && !isOfName && <SavingFailure error={saving.error} />}
        <Head
          draft={draft}
          isNew={segment === null}
          error={saving.error}
          onChange={(changed) => setDraft({ ...draft, ...changed })}
        />
        {draft.type === "DYNAMIC" && (
          <Condition
            draft={draft}
            groups={groups}
            onChange={(changed) => setDraft({ ...draft, ...changed })}
          />
        )}
        <div className="flex justify-end">
          <Button
            look="primary"
            type="submit"
            busy={saving.isPending}
            disabled={!isWhole || (segment !== null && !isChanged)}
          >
            {segment === null ? t("Create segment") : isChanged ? t("Save") : t("Saved")}
          </Button>
        </div>
      </div>
      {draft.type === "DYNAMIC" && (
        <WhoMatches projectId={projectId} filters={draft.filters} nameOf={nameIn(groups)} />
      )}
    </form>
  );
}

interface ConditionProps {
  draft: Draft;
  groups: readonly FieldGroup[];
  onChange: (change: Partial<Draft>) => void;
}

function Condition({ draft, groups, onChange }: ConditionProps) {
  return (
    <>
      <Card className="p-5">
        <ConditionBuilder
          filter={draft.filters}
          groups={groups}
          onChange={(filters) => onChange({ filters })}
        />
        <p className="mt-4 border-t border-line pt-3 text-sm text-soft">
          {t("Contacts where {condition}", { condition: sentenceOf(draft.filters, nameIn(groups)) })}
        </p>
      </Card>
      <Checkbox
        label={t("Track who enters and leaves")}
        help={t("Each entry and exit becomes an event, which workflows can begin with.")}
        checked={draft.trackMembership}
        onChange={({ target }) => onChange({ trackMembership: target.checked })}
      />
    </>
  );
}

interface HeadProps {
  draft: Draft;
  isNew: boolean;
  error: unknown;
  onChange: (change: Partial<Draft>) => void;
}

function Head({ draft, isNew, error, onChange }: HeadProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label={t("Name")}
        value={draft.name}
        autoFocus={isNew}
        onChange={({ target }) => onChange({ name: target.value })}
        error={problemWith(error, "name")}
      />
      {isNew && (
        <Select
          label={t("Who is in it")}
          options={[
            { value: "DYNAMIC", label: t("Whoever matches a condition") },
            { value: "STATIC", label: t("Whom you add by hand") },
          ]}
          value={draft.type}
          onChange={({ target }) => onChange({ type: target.value === "STATIC" ? "STATIC" : "DYNAMIC" })}
        />
      )}
    </div>
  );
}

/** What the server says of a condition names its place, as `filters.conditions.2.value`. */
function SavingFailure({ error }: { error: unknown }) {
  const fields = error instanceof CallError ? error.fields : [];
  if (fields.length === 0) return <Failure error={error} />;
  return (
    <ul role="alert" className="rounded-md bg-bad-wash px-3.5 py-2.5 text-sm text-bad">
      {fields.map(({ field, message }) => {
        const at = /conditions\.(\d+)/.exec(field)?.[1];
        return (
          <li key={field}>
            {at === undefined ? message : t("Condition {n}: {message}", { n: Number(at) + 1, message })}
          </li>
        );
      })}
    </ul>
  );
}
