// Pauses, replays, copies, exports and deletes workflows, from the list and from the workflow's page.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  Copy,
  Download,
  Ellipsis,
  Tags,
  GitCompare,
  History,
  Pause,
  Play,
  Power,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import { call, download } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useDelayedDeletion } from "../use-delayed-deletion.ts";
import { useSwitch, type WorkflowToChange } from "./enable-workflow.tsx";
import { GroupingDialog } from "./grouping-dialog.tsx";
import { ReplayDialog } from "./try/replay-dialog.tsx";
import { VersionsDialog } from "./versions/versions-dialog.tsx";
import { invalidateWorkflows } from "./workflow-queries.ts";

/** Pauses a workflow or resumes it. */
export function usePausing(projectId: string, { id, name, pausedAt }: WorkflowToChange) {
  const queries = useQueryClient();
  const toast = useToast();
  const address = pausedAt === null ? api.workflows.pause : api.workflows.resume;
  return useMutation({
    mutationFn: () => call(address, { projectId, params: { id } }),
    onSuccess: () =>
      toast(pausedAt === null ? t("“{name}” paused", { name }) : t("“{name}” resumed", { name })),
    onError: (error) => toast(t("Couldn't change “{name}”", { name }), error.message),
    onSettled: () => invalidateWorkflows(queries, projectId),
  });
}

function useCopying(projectId: string, { id }: WorkflowToChange) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return useMutation({
    mutationFn: () => call(api.workflows.duplicate, { projectId, params: { id } }),
    onSuccess: async (copy) => {
      await invalidateWorkflows(queries, projectId);
      const params = { projectId, workflowId: copy.id };
      await navigate({ to: "/$projectId/workflows/$workflowId", params, search: {} });
      toast(t("Duplicated"), copy.name);
    },
    onError: (error) => toast(t("Couldn't duplicate"), error.message),
  });
}

function useExporting(projectId: string, { id, name }: WorkflowToChange) {
  const toast = useToast();
  return useMutation({
    mutationFn: () => download(api.workflows.export, { projectId, params: { id } }, `${name}.json`),
    onError: (error) => toast(t("Couldn't export “{name}”", { name }), error.message),
  });
}

interface MenuProps {
  projectId: string;
  workflow: WorkflowToChange;
  /** Adds enabling and pausing, where there are no buttons for them. */
  hasSwitches?: boolean;
}

export function WorkflowMenu({ projectId, workflow, hasSwitches = false }: MenuProps) {
  const { id, name } = workflow;
  const navigate = useNavigate();
  const exporting = useExporting(projectId, workflow);
  const { press, dialog } = useSwitch(projectId, workflow);
  const copying = useCopying(projectId, workflow);
  const deleteLater = useDelayedDeletion(projectId);
  const [isReplaying, setReplaying] = useState(false);
  const [isGrouping, setGrouping] = useState(false);
  const [isComparing, setComparing] = useState(false);
  const remove = async () => {
    await navigate({ to: "/$projectId/workflows", params: { projectId }, search: {} });
    deleteLater({ id, name, remove: () => call(api.workflows.delete, { projectId, params: { id } }) });
  };
  return (
    <>
      {dialog}
      {isReplaying && (
        <ReplayDialog projectId={projectId} workflowId={id} onClose={() => setReplaying(false)} />
      )}
      {isComparing && (
        <VersionsDialog projectId={projectId} workflowId={id} onClose={() => setComparing(false)} />
      )}
      {isGrouping && (
        <GroupingDialog projectId={projectId} workflow={workflow} onClose={() => setGrouping(false)} />
      )}
      <Menu
        label={t("Actions for {name}", { name })}
        className="relative inline-grid size-8 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink data-popup-open:bg-hover"
        button={<Ellipsis size={15} aria-hidden />}
      >
        {hasSwitches && <Switches projectId={projectId} workflow={workflow} onSwitch={press} />}
        <MenuItem onSelect={() => setReplaying(true)}>
          <History size={14} aria-hidden /> {t("Replay history")}
        </MenuItem>
        <MenuItem onSelect={() => setComparing(true)}>
          <GitCompare size={14} aria-hidden /> {t("Compare versions")}
        </MenuItem>
        <MenuItem onSelect={() => setGrouping(true)}>
          <Tags size={14} aria-hidden /> {t("Folder and tags")}
        </MenuItem>
        <MenuItem onSelect={() => copying.mutate()}>
          <Copy size={14} aria-hidden /> {t("Duplicate")}
        </MenuItem>
        <MenuItem onSelect={() => exporting.mutate()}>
          <Download size={14} aria-hidden /> {t("Export")}
        </MenuItem>
        <MenuLine />
        <MenuItem onSelect={() => void remove()}>
          <Trash2 size={14} aria-hidden /> {t("Delete")}
        </MenuItem>
      </Menu>
    </>
  );
}

type SwitchesProps = Pick<MenuProps, "projectId" | "workflow"> & { onSwitch: () => void };

function Switches({ projectId, workflow, onSwitch }: SwitchesProps) {
  const { enabled, pausedAt } = workflow;
  const pausing = usePausing(projectId, workflow);
  return (
    <>
      <MenuItem onSelect={onSwitch}>
        <Power size={14} aria-hidden /> {enabled ? t("Disable") : t("Enable")}
      </MenuItem>
      <MenuItem onSelect={() => pausing.mutate()}>
        {pausedAt === null ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
        {pausedAt === null ? t("Pause") : t("Resume")}
      </MenuItem>
      <MenuLine />
    </>
  );
}
