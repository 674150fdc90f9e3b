// A filter above the contacts table, edited like a segment's. When folded it is shown as a sentence.
import { useNavigate } from "@tanstack/react-router";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ListFilter } from "lucide-react";
import { useEffect, useReducer, useRef, useState } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { Card } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { ConditionBuilder } from "../segments/condition-builder/condition-builder.tsx";
import { sentenceOf } from "../segments/condition-builder/condition-sentence.ts";
import {
  changeTree,
  EMPTY_FILTER,
  filterOf,
  isBlank,
  readTree,
} from "../segments/condition-builder/condition-tree.ts";
import { useFields, type Fields } from "../segments/condition-builder/fields.ts";
import { ContactCount } from "./contact-count.tsx";
import type { ContactsList } from "./contact-list.ts";
import { fitsIntoUrl, type ContactsChange } from "./search.ts";

const TYPING_PAUSE_MS = 400;

interface ConditionsProps {
  projectId: string;
  /** The filter in the URL, if any. */
  filter: Filter | undefined;
  /** The list under this filter. */
  list: Pick<ContactsList, "rows" | "total" | "countAll" | "lookedAt" | "isPlaceholderData" | "error">;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  onChange: (change: ContactsChange, replace?: boolean) => void;
}

export function ContactConditions(props: ConditionsProps) {
  const { projectId, filter, isOpen, onOpen, onChange } = props;
  const fields = useFields(projectId, undefined);
  if (isOpen) return <OpenConditions {...props} fields={fields} />;
  if (filter === undefined) return null;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-surface py-1 pr-1.5 pl-4 text-sm">
      <ListFilter size={14} className="shrink-0 text-faint" aria-hidden />
      <p dir="auto" className="min-w-0 flex-1 basis-60 py-1 wrap-anywhere">
        {sentenceOf(filter, fields)}
      </p>
      <span className="flex">
        <Button look="quiet" onClick={() => onOpen(true)}>
          {t("Edit")}
        </Button>
        <Button look="quiet" onClick={() => onChange({ filter: undefined })}>
          {t("Remove")}
        </Button>
      </span>
    </div>
  );
}

function OpenConditions(props: ConditionsProps & { fields: Fields }) {
  const { projectId, filter, fields, list, onOpen, onChange } = props;
  const [tree, act] = useReducer(changeTree, filter ?? EMPTY_FILTER, readTree);
  const [isSaving, setSaving] = useState(false);
  const written = filterOf(tree);
  const isTooLong = written !== null && !fitsIntoUrl(written);
  const said = isBlank(tree) ? "" : JSON.stringify(written);
  const applied = JSON.stringify(filter) ?? "";
  const asked = useRef(applied);
  // Apply the filter when typing pauses. Load it into the builder when the URL changes, through browser history or a saved view.
  const settled = useDebounced(said, TYPING_PAUSE_MS);
  useEffect(() => {
    if (settled !== said || said === "null" || said === asked.current || isTooLong) return;
    asked.current = said;
    onChange({ filter: written ?? undefined }, filter !== undefined);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- run once per debounced filter
  }, [settled]);
  useEffect(() => {
    if (applied === asked.current) return;
    asked.current = applied;
    act({ do: "load", filter: filter ?? EMPTY_FILTER });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- run once per filter set from outside
  }, [applied]);
  const remove = () => {
    onOpen(false);
    onChange({ filter: undefined });
  };
  return (
    <Card className="mb-3 p-4 sm:p-5">
      <ConditionBuilder tree={tree} fields={fields} error={list.error} onAction={act} />
      <div className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-line pt-3">
        <p dir="auto" role="status" className="min-w-0 flex-1 basis-72 text-sm wrap-anywhere text-soft">
          {isTooLong
            ? t("These conditions are too long for a link. Save them as a segment to see the contacts.")
            : written === null
              ? t("Complete the conditions to see the result.")
              : sentenceOf(written, fields)}
        </p>
        <Count {...props} isShown={said !== "" && said === applied} />
        <span className="flex flex-wrap gap-1">
          <Button look="quiet" onClick={remove}>
            {t("Remove")}
          </Button>
          <Button disabled={written === null} onClick={() => setSaving(true)}>
            {t("Save as segment")}
          </Button>
          <Button look="primary" onClick={() => onOpen(false)}>
            {t("Done")}
          </Button>
        </span>
      </div>
      {isSaving && written !== null && (
        <SegmentDialog
          projectId={projectId}
          filter={written}
          onClose={() => setSaving(false)}
          onSaved={(segment) => {
            onOpen(false);
            onChange({ segment, filter: undefined });
          }}
        />
      )}
    </Card>
  );
}

/** Shows how many contacts match, or nothing while the list still shows the previous filter. */
function Count({ list, isShown }: Pick<ConditionsProps, "list"> & { isShown: boolean }) {
  const isSaid = list.total !== undefined || list.countAll !== null || list.lookedAt !== null;
  const isKnown = isShown && isSaid && list.error === null;
  const isBusy = !isKnown || list.isPlaceholderData;
  return (
    <div
      role="status"
      aria-busy={isBusy}
      className={`font-medium tabular-nums ${isBusy ? "opacity-60" : ""}`}
    >
      {isKnown && <ContactCount list={list} />}
    </div>
  );
}

interface SegmentDialogProps {
  projectId: string;
  filter: Filter;
  onClose: () => void;
  onSaved: (segmentId: string) => void;
}

function SegmentDialog({ projectId, filter, onClose, onSaved }: SegmentDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const saving = useMutation({
    mutationFn: () =>
      call(api.segments.create, { projectId, body: { name, type: "DYNAMIC" as const, filters: filter } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.segments.list, { projectId }) });
      onClose();
      onSaved(id);
      toast(t("Segment saved"), {
        description: name,
        action: {
          label: t("Open segment"),
          run: () =>
            void navigate({ to: "/$projectId/segments/$segmentId", params: { projectId, segmentId: id } }),
        },
      });
    },
  });
  return (
    <Dialog
      title={t("Save as segment")}
      description={t("You can use the segment in campaigns and workflows.")}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Name")}
        value={name}
        onChange={setName}
        action={t("Save as segment")}
        asking={saving}
      />
    </Dialog>
  );
}
