// Adds the selected contacts to a manual list, which may be new.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { segmentsQuery } from "../segments/segment-queries.ts";
import type { ContactsList } from "./contact-list.ts";
import type { Selection } from "./selection.ts";
import { useSelectedCount } from "./use-selected-count.ts";

const NEW = "";

interface AddToSegmentProps {
  projectId: string;
  selection: Selection;
  list: Pick<ContactsList, "recount">;
  onStarted: (jobId: string, segmentId: string) => void;
  onClose: () => void;
}

/** Queues the addition to a segment, which is created if it is new. */
function useAdding(
  { projectId, selection, onStarted }: AddToSegmentProps,
  { target, name, onCreated }: { target: string; name: string; onCreated: (id: string) => void },
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const segment =
        target === NEW
          ? await call(api.segments.create, { projectId, body: { name, type: "STATIC" as const } })
          : { id: target };
      // A new list stays chosen if adding fails, so that a second try creates no other one.
      onCreated(segment.id);
      const body = { ...selection.body(), targetSegmentId: segment.id };
      const { jobId } = await call(api.contacts.bulkAddToSegment, { projectId, body });
      return { jobId, segmentId: segment.id };
    },
    onSuccess: ({ jobId, segmentId }) => onStarted(jobId, segmentId),
    onSettled: () => queries.invalidateQueries({ queryKey: projectKey(projectId) }),
  });
}

export function AddToSegment(props: AddToSegmentProps) {
  const { projectId, selection, list, onClose } = props;
  const segments = useQuery(segmentsQuery(projectId));
  const lists = (segments.data ?? []).filter(({ type }) => type === "STATIC");
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const target = chosen ?? lists[0]?.id ?? NEW;
  const adding = useAdding(props, { target, name, onCreated: setChosen });
  const { said, afterCounting } = useSelectedCount(selection, list);
  const { error, isPending, mutate } = afterCounting(adding);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Dialog title={t("Add to segment")} description={said} open onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {error !== null && <Failure error={error} atInputs={["name"]} />}
        <Select
          label={t("Manual list")}
          options={[
            ...lists.map(({ id, name: label }) => ({ value: id, label })),
            { value: NEW, label: t("New segment") },
          ]}
          value={target}
          onChange={(event) => setChosen(event.target.value)}
        />
        {target === NEW && (
          <Field
            label={t("Name")}
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={problemWith(adding.error, "name")}
          />
        )}
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button
            look="primary"
            type="submit"
            busy={isPending}
            disabled={segments.isPending || (target === NEW && name.trim() === "")}
          >
            {t("Add contacts")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
