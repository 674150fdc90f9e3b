// What is in a segment, said by conditions: with the count of who matches now, some of them, and why one contact does or does not.
// Before it: segment-page.tsx. After it: condition-builder/, who-matches.tsx.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useReducer, useState, type Dispatch, type FormEvent } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { call, problemWith } from "../../api/call.ts";
import { createSegment, updateSegment } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Field, Select } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { ConditionBuilder } from "./condition-builder/condition-builder.tsx";
import { sentenceOf } from "./condition-builder/condition-sentence.ts";
import {
  changeTree,
  EMPTY_FILTER,
  filterOf,
  readTree,
  type Tree,
  type TreeAction,
} from "./condition-builder/condition-tree.ts";
import { useFields, type Fields } from "./condition-builder/fields.ts";
import { invalidateMembers, type Segment } from "./segment-queries.ts";
import { useMatches, WhoMatches } from "./who-matches.tsx";

interface EditorProps {
  projectId: string;
  /** Null: a new one. */
  segment: Segment | null;
}

interface Draft {
  name: string;
  description: string;
  type: Segment["type"];
  trackMembership: boolean;
}

function draftOf(segment: Segment | null): Draft {
  return {
    name: segment?.name ?? "",
    description: segment?.description ?? "",
    type: segment?.type ?? "DYNAMIC",
    trackMembership: segment?.trackMembership ?? false,
  };
}

/** What is written; the condition is null while it is not complete, and of a segment without one. */
interface Written {
  draft: Draft;
  filters: Filter | null;
}

const storedFiltersOf = (segment: Segment | null) =>
  (segment?.filters as Filter | null | undefined) ?? EMPTY_FILTER;

const writtenOf = (segment: Segment | null): Written => ({
  draft: draftOf(segment),
  filters: filterOf(readTree(storedFiltersOf(segment))),
});

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

function bodyOf({ draft: { name, description, type, trackMembership }, filters }: Written) {
  return {
    name,
    description: description === "" ? null : description,
    ...(type === "DYNAMIC" && filters !== null ? { filters, trackMembership } : {}),
  };
}

/** What differs: what others change elsewhere in the segment stays. */
function changeOf(before: Written, after: Written): Partial<ReturnType<typeof bodyOf>> {
  const old: Record<string, unknown> = bodyOf(before);
  return Object.fromEntries(
    Object.entries(bodyOf(after)).filter(([name, value]) => !isSame(value, old[name])),
  );
}

/** @param onSaved told what is stored from now on, also when something else is written by then */
function useSaving(
  projectId: string,
  segment: Segment | null,
  stored: Written,
  onSaved: (written: Written) => void,
) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return useMutation({
    mutationFn: (written: Written) =>
      segment === null
        ? call(createSegment, { projectId, body: { ...bodyOf(written), type: written.draft.type } })
        : call(updateSegment, { projectId, params: { id: segment.id }, body: changeOf(stored, written) }),
    onSuccess: async ({ id }, written) => {
      onSaved(written);
      if (segment === null)
        await navigate({
          to: "/$projectId/segments/$segmentId",
          params: { projectId, segmentId: id },
          ignoreBlocker: true,
        });
      await invalidateMembers(queries, projectId);
      toast(t("Segment saved"), written.draft.name);
    },
  });
}

/** What the server says of a name or a condition stands beside it. */
const AT_INPUTS = ["name", "description", "filters.conditions."];

export function SegmentEditor({ projectId, segment }: EditorProps) {
  const [stored, setStored] = useState(() => writtenOf(segment));
  const [draft, setDraft] = useState(stored.draft);
  const [tree, act] = useReducer(changeTree, storedFiltersOf(segment), readTree);
  const fields = useFields(projectId, segment?.id);
  const isDynamic = draft.type === "DYNAMIC";
  const filters = isDynamic ? filterOf(tree) : null;
  const saving = useSaving(projectId, segment, stored, setStored);
  const matches = useMatches(projectId, filters);
  const isChanged = !isSame({ draft, filters }, stored);
  useLeaveWarning(isChanged);
  const isWhole = draft.name.trim() !== "" && (!isDynamic || filters !== null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate({ draft, filters });
  };
  return (
    <form onSubmit={submit} noValidate className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex min-w-0 flex-col gap-5">
        {saving.isError && <Failure error={saving.error} atInputs={AT_INPUTS} />}
        <Head
          draft={draft}
          isNew={segment === null}
          error={saving.error}
          onChange={(changed) => setDraft({ ...draft, ...changed })}
        />
        {isDynamic && (
          <>
            <Condition
              tree={tree}
              filters={filters}
              fields={fields}
              error={saving.error ?? matches.error}
              onAction={act}
            />
            <Checkbox
              label={t("Track who enters and leaves")}
              help={t("Each entry and exit becomes an event, which workflows can begin with.")}
              checked={draft.trackMembership}
              onChange={({ target }) => setDraft({ ...draft, trackMembership: target.checked })}
            />
          </>
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
      {isDynamic && <WhoMatches projectId={projectId} filters={filters} matches={matches} fields={fields} />}
    </form>
  );
}

interface ConditionProps {
  tree: Tree;
  filters: Filter | null;
  fields: Fields;
  error: unknown;
  onAction: Dispatch<TreeAction>;
}

function Condition({ tree, filters, fields, error, onAction }: ConditionProps) {
  return (
    <Card className="p-4 sm:p-5">
      <ConditionBuilder tree={tree} fields={fields} error={error} onAction={onAction} />
      <p dir="auto" role="status" className="mt-4 border-t border-line pt-3 text-sm wrap-anywhere text-soft">
        {filters === null ? t("Complete each condition to see what it means.") : sentenceOf(filters, fields)}
      </p>
    </Card>
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
      {isNew ? (
        <Select
          label={t("Who is in it")}
          options={[
            { value: "DYNAMIC", label: t("Whoever matches a condition") },
            { value: "STATIC", label: t("Whom you add by hand") },
          ]}
          value={draft.type}
          onChange={({ target }) => onChange({ type: target.value === "STATIC" ? "STATIC" : "DYNAMIC" })}
        />
      ) : (
        <Field
          label={t("Description")}
          value={draft.description}
          onChange={({ target }) => onChange({ description: target.value })}
          error={problemWith(error, "description")}
        />
      )}
    </div>
  );
}
