// Creates a draft campaign with a name, a sender and a starting point.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { domainsQuery } from "../domains/domains-query.ts";
import { isBlocks } from "../templates/blocks/block-tree.ts";
import { beginningOf, STARTING_POINTS } from "../templates/starting-points.ts";
import { offeredTemplatesQuery } from "./campaign-queries.ts";

/** Returns the starting points, followed by the project's own templates. */
function useBeginnings(projectId: string) {
  const templates = useQuery(offeredTemplatesQuery(projectId));
  return [
    ...STARTING_POINTS.filter(({ type }) => type === "MARKETING").map(({ key, label }) => ({
      value: key,
      label,
    })),
    ...(templates.data?.data ?? []).map(({ id, name }) => ({
      value: id,
      label: t("Template: {name}", { name }),
    })),
  ];
}

interface Beginning {
  previewText?: string | null;
  body: string;
  design: object | null;
}

/** Sends only the blocks if there are any, because they generate the body. */
function bodyOrBlocks({ previewText = null, body, design }: Beginning) {
  const blocks = design as Record<string, unknown> | null;
  return isBlocks(blocks) ? { design: blocks } : { previewText, body };
}

async function contentOf(project: Project, beginning: string) {
  const point = STARTING_POINTS.find(({ key }) => key === beginning);
  const { subject, type, ...content } =
    point === undefined
      ? await call(api.templates.get, { projectId: project.id, params: { id: beginning } })
      : { ...point, ...beginningOf(point, project) };
  return { subject, kind: type, ...bodyOrBlocks(content) };
}

function useDefaultSender(project: Project): { sender: string | null; isKnown: boolean } {
  const domains = useQuery(domainsQuery(project.id));
  const verified = domains.data?.find(({ verified: isVerified }) => isVerified)?.domain;
  const input = /<([^>]+)>/.exec(project.defaultFrom ?? "")?.[1] ?? project.defaultFrom;
  return {
    sender: input ?? (verified === undefined ? null : `news@${verified}`),
    isKnown: domains.data !== undefined,
  };
}

interface NewCampaignProps {
  project: Project;
  /** The segment that gets the campaign. Default: everyone. */
  segmentId?: string;
  onClose: () => void;
}

const audienceOf = (segmentId: string | undefined) =>
  segmentId === undefined
    ? ({ audienceType: "ALL" } as const)
    : ({ audienceType: "SEGMENT", segmentId } as const);

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
export function NewCampaignDialog({ project, segmentId, onClose }: NewCampaignProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const beginnings = useBeginnings(project.id);
  const { sender, isKnown } = useDefaultSender(project);
  const [name, setName] = useState("");
  const [typedFrom, setTypedFrom] = useState<string | null>(null);
  const [beginning, setBeginning] = useState("announcement");
  const from = typedFrom ?? sender ?? "";
  const creating = useMutation({
    mutationFn: async () =>
      call(api.campaigns.create, {
        projectId: project.id,
        body: { name, from, ...audienceOf(segmentId), ...(await contentOf(project, beginning)) },
      }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({
        queryKey: resourceKey(api.campaigns.list, { projectId: project.id }),
      });
      const params = { projectId: project.id, campaignId: id };
      await navigate({ to: "/$projectId/campaigns/$campaignId", params, search: {} });
      onClose();
    },
  });
  const { error } = creating;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog title={t("New campaign")} open onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {creating.isError && <Failure error={error} atInputs={["name", "from"]} />}
        <Field
          label={t("Name")}
          autoFocus
          help={t("Only you and your team see it.")}
          value={name}
          onChange={({ target }) => setName(target.value)}
          error={problemWith(error, "name")}
        />
        <Field
          label={t("From")}
          type="email"
          placeholder="news@example.com"
          value={from}
          onChange={({ target }) => setTypedFrom(target.value)}
          error={problemWith(error, "from")}
        />
        {isKnown && sender === null && (
          <p className="text-sm text-warn">
            {t("You can't send until you verify a domain.")}{" "}
            <Link to="/$projectId/domains" params={{ projectId: project.id }} className="underline">
              {t("Add domain")}
            </Link>
          </p>
        )}
        <Select
          label={t("Start from")}
          options={beginnings}
          value={beginning}
          onChange={({ target }) => setBeginning(target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button
            look="primary"
            type="submit"
            busy={creating.isPending}
            disabled={name.trim() === "" || from.trim() === ""}
          >
            {t("Create draft")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
