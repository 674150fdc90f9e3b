// Adds the selected contacts to a manual list, which may be new.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { segmentsQuery } from "../segments/segment-queries.ts";

const NEW = "";
const AT_ONCE = LIMITS.segmentEmails.value;

interface AddToSegmentProps {
  projectId: string;
  emails: readonly string[];
  onDone: () => void;
  onClose: () => void;
}

/** Adds the addresses to a segment, which is created if it is new. */
function useAdding(
  { projectId, emails, onDone }: AddToSegmentProps,
  { target, name, onCreated }: { target: string; name: string; onCreated: (id: string) => void },
) {
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      const segment =
        target === NEW
          ? await call(api.segments.create, { projectId, body: { name, type: "STATIC" as const } })
          : { id: target };
      // A new list stays chosen if adding fails, so that a second try creates no other one.
      onCreated(segment.id);
      let added = 0;
      for (let at = 0; at < emails.length; at += AT_ONCE) {
        const body = { emails: emails.slice(at, at + AT_ONCE) };
        added += (await call(api.segments.addMembers, { projectId, params: segment, body })).added;
      }
      return { added, segmentId: segment.id };
    },
    onSuccess: ({ added, segmentId }) => {
      toast(plural(added, "{n} contact added to the segment.", "{n} contacts added to the segment."), {
        action: {
          label: t("Open segment"),
          run: () =>
            void navigate({ to: "/$projectId/segments/$segmentId", params: { projectId, segmentId } }),
        },
      });
      onDone();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: projectKey(projectId) }),
  });
}

export function AddToSegment(props: AddToSegmentProps) {
  const { projectId, onClose } = props;
  const segments = useQuery(segmentsQuery(projectId));
  const lists = (segments.data ?? []).filter(({ type }) => type === "STATIC");
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const target = chosen ?? lists[0]?.id ?? NEW;
  const adding = useAdding(props, { target, name, onCreated: setChosen });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adding.mutate();
  };
  return (
    <Dialog title={t("Add to segment")} open onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {adding.isError && <Failure error={adding.error} atInputs={["name"]} />}
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
            busy={adding.isPending}
            disabled={segments.isPending || (target === NEW && name.trim() === "")}
          >
            {t("Add contacts")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
