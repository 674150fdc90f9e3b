// Edits a segment's filter, with the live count and samples of matching contacts and an explanation for a single contact.
import { useReducer, useState, type Dispatch, type FormEvent } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { problemWith } from "../../api/call.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Field, Select } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { ConditionBuilder } from "./condition-builder/condition-builder.tsx";
import { sentenceOf } from "./condition-builder/condition-sentence.ts";
import {
  changeTree,
  filterOf,
  readTree,
  type Tree,
  type TreeAction,
} from "./condition-builder/condition-tree.ts";
import { useFields, type Fields } from "./condition-builder/fields.ts";
import { SegmentConflict } from "./segment-conflict.tsx";
import { draftOf, storedFiltersOf, useSaving, type Draft } from "./segment-draft.ts";
import type { Segment } from "./segment-queries.ts";
import { useMatches, MatchingContacts } from "./matching-contacts.tsx";

interface EditorProps {
  projectId: string;
  /** Null for a new one. */
  segment: Segment | null;
  /** Discards the local edits and continues with the saved version. */
  onTaken: () => void;
}

/** Fields that show their own errors. */
const AT_INPUTS = ["name", "description", "filters.conditions."];

export function SegmentEditor({ projectId, segment, onTaken }: EditorProps) {
  const [draft, setDraft] = useState(() => draftOf(segment));
  const [tree, act] = useReducer(changeTree, storedFiltersOf(segment), readTree);
  const fields = useFields(projectId, segment?.id);
  const isDynamic = draft.type === "DYNAMIC";
  const filters = isDynamic ? filterOf(tree) : null;
  const { saving, save, saveOver, isChanged, hasConflict } = useSaving(projectId, segment, {
    draft,
    filters,
  });
  const matches = useMatches(projectId, filters);
  useLeaveWarning(isChanged);
  const isWhole = draft.name.trim() !== "" && (!isDynamic || filters !== null);
  const change = (changed: Partial<Draft>) => setDraft({ ...draft, ...changed });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  return (
    <form onSubmit={submit} noValidate className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex min-w-0 flex-col gap-5">
        {segment !== null && hasConflict ? (
          <SegmentConflict
            projectId={projectId}
            segmentId={segment.id}
            fields={fields}
            onSaveOver={isWhole ? saveOver : undefined}
            onTaken={onTaken}
          />
        ) : (
          saving.isError && <Failure error={saving.error} atInputs={AT_INPUTS} />
        )}
        <Head draft={draft} isNew={segment === null} error={saving.error} onChange={change} />
        {isDynamic && (
          <Condition
            {...{ tree, filters, fields, draft }}
            error={saving.error ?? matches.error}
            onAction={act}
            onChange={change}
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
      {isDynamic && (
        <MatchingContacts projectId={projectId} filters={filters} matches={matches} fields={fields} />
      )}
    </form>
  );
}

interface ConditionProps {
  tree: Tree;
  filters: Filter | null;
  fields: Fields;
  draft: Draft;
  error: unknown;
  onAction: Dispatch<TreeAction>;
  onChange: (change: Partial<Draft>) => void;
}

function Condition({ tree, filters, fields, draft, error, onAction, onChange }: ConditionProps) {
  return (
    <>
      <Card className="p-4 sm:p-5">
        <ConditionBuilder tree={tree} fields={fields} error={error} onAction={onAction} />
        <p
          dir="auto"
          role="status"
          className="mt-4 border-t border-line pt-3 text-sm wrap-anywhere text-soft"
        >
          {filters === null ? t("Complete the conditions to see the result.") : sentenceOf(filters, fields)}
        </p>
      </Card>
      <Checkbox
        label={t("Track membership")}
        help={t("Records an event when a contact enters or leaves. Workflows can start from it.")}
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
      {isNew ? (
        <Select
          label={t("Segment type")}
          options={[
            { value: "DYNAMIC", label: t("Rule-based") },
            { value: "STATIC", label: t("Manual list") },
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
