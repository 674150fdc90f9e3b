// What the palette offers whatever is typed: pages, actions, other projects. Before it: palette.tsx. After it: router.tsx.
import { useNavigate } from "@tanstack/react-router";
import {
  CircleUser,
  FolderOpen,
  Import,
  Keyboard,
  Plus,
  Shapes,
  UserPlus,
  type LucideIcon,
} from "lucide-react";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { PLACES } from "../places.ts";
import type { FoundPlace } from "./find.ts";

export interface Command {
  key: string;
  label: string;
  icon?: LucideIcon;
  /** Why whoever is signed in may not do it. */
  refusal?: string | undefined;
  run: () => void;
}
export interface CommandGroup {
  label: string;
  commands: Command[];
}

export function useCommands(around: {
  project: Project;
  projects: readonly Project[];
  onShortcuts: () => void;
}) {
  const { project, projects, onShortcuts } = around;
  const navigate = useNavigate();
  const params = { projectId: project.id };
  const groups: CommandGroup[] = [
    {
      label: t("Go to"),
      commands: [
        ...PLACES.map(({ to, label, icon }) => ({
          key: to,
          label,
          icon,
          run: () => void navigate({ to, params }),
        })),
        {
          key: "account",
          label: t("Your account"),
          icon: CircleUser,
          run: () => void navigate({ to: "/$projectId/account", params }),
        },
      ],
    },
    {
      label: t("Actions"),
      commands: [
        {
          key: "segment",
          label: t("New segment"),
          icon: Shapes,
          run: () => void navigate({ to: "/$projectId/segments/new", params }),
        },
        {
          key: "import",
          label: t("Import contacts"),
          icon: Import,
          run: () => void navigate({ to: "/$projectId/contacts/import", params }),
        },
        {
          key: "invite",
          label: t("Invite somebody"),
          icon: UserPlus,
          refusal: whyNot(project, "ADMIN"),
          run: () => void navigate({ to: "/$projectId/settings", params, search: { tab: "members" } }),
        },
        {
          key: "project",
          label: t("New project"),
          icon: Plus,
          run: () => void navigate({ to: "/new-project" }),
        },
        { key: "shortcuts", label: t("Keyboard shortcuts"), icon: Keyboard, run: onShortcuts },
      ],
    },
    {
      label: t("Open another project"),
      commands: projects
        .filter(({ id }) => id !== project.id)
        .map(({ id, name }) => ({
          key: id,
          label: name,
          icon: FolderOpen,
          run: () => void navigate({ to: "/$projectId", params: { projectId: id } }),
        })),
    },
  ];
  /** Opens something that was found. */
  const open = (place: FoundPlace, id: string) => {
    if (place === "contact")
      void navigate({ to: "/$projectId/contacts/$contactId", params: { ...params, contactId: id } });
    else if (place === "template")
      void navigate({ to: "/$projectId/templates/$templateId", params: { ...params, templateId: id } });
    else if (place === "campaign")
      void navigate({ to: "/$projectId/campaigns/$campaignId", params: { ...params, campaignId: id } });
    else void navigate({ to: "/$projectId/segments/$segmentId", params: { ...params, segmentId: id } });
  };
  return { groups, open };
}
