// Commands of the palette that do not depend on a search: pages, actions and other projects.
import { useNavigate } from "@tanstack/react-router";
import {
  CircleUser,
  FolderOpen,
  Globe,
  Import,
  Keyboard,
  LayoutTemplate,
  LogOut,
  Megaphone,
  Moon,
  Plus,
  Shapes,
  Sun,
  SunMoon,
  UserPlus,
  type LucideIcon,
} from "lucide-react";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { chooseTheme, THEMES, type Theme } from "../../ui/theme.ts";
import { PLACES } from "../places.ts";
import { useSignOut } from "../use-sign-out.ts";
import type { FoundPlace } from "./find.ts";
import type { Opened } from "./shortcuts.ts";

export interface Command {
  key: string;
  label: string;
  icon?: LucideIcon;
  /** The reason why the signed-in user may not run the command. */
  refusal?: string | undefined;
  run: () => void;
}
export interface CommandGroup {
  label: string;
  commands: Command[];
}

interface Around {
  project: Project;
  projects: readonly Project[];
  /** Opens a dialog above the page. */
  onOpen: (what: Opened) => void;
}

export function useCommands(around: Around) {
  const { project, projects } = around;
  const navigate = useNavigate();
  const params = { projectId: project.id };
  const actions = useActions(around);
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
    { label: t("Actions"), commands: actions },
    {
      label: t("Switch project"),
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
  /** Opens a search result. */
  const open = (place: FoundPlace, id: string) => {
    if (place === "contact")
      void navigate({ to: "/$projectId/contacts/$contactId", params: { ...params, contactId: id } });
    else if (place === "template")
      void navigate({ to: "/$projectId/templates/$templateId", params: { ...params, templateId: id } });
    else if (place === "campaign")
      void navigate({ to: "/$projectId/campaigns/$campaignId", params: { ...params, campaignId: id } });
    else if (place === "email")
      void navigate({ to: "/$projectId/emails/$emailId", params: { ...params, emailId: id } });
    else if (place === "recipient")
      void navigate({ to: "/$projectId/emails", params, search: { search: id } });
    else if (place === "domain") void navigate({ to: "/$projectId/domains", params, hash: id });
    else void navigate({ to: "/$projectId/segments/$segmentId", params: { ...params, segmentId: id } });
  };
  return { groups, open };
}

const THEME_TEXTS: Record<Theme, { label: string; icon: LucideIcon }> = {
  light: { label: t("Light theme"), icon: Sun },
  dark: { label: t("Dark theme"), icon: Moon },
  system: { label: t("System theme"), icon: SunMoon },
};

function useActions({ project, onOpen }: Around): Command[] {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const params = { projectId: project.id };
  const refusal = whyNot(project, "ADMIN");
  return [
    { key: "campaign", label: t("New campaign"), icon: Megaphone, run: () => onOpen("campaign") },
    { key: "template", label: t("New template"), icon: LayoutTemplate, run: () => onOpen("template") },
    { key: "contact", label: t("New contact"), icon: CircleUser, run: () => onOpen("contact") },
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
    { key: "domain", label: t("Add domain"), icon: Globe, refusal, run: () => onOpen("domain") },
    {
      key: "invite",
      label: t("Invite member"),
      icon: UserPlus,
      refusal,
      run: () => void navigate({ to: "/$projectId/settings", params, search: { tab: "members" } }),
    },
    { key: "project", label: t("New project"), icon: Plus, run: () => void navigate({ to: "/new-project" }) },
    ...THEMES.map((theme) => ({
      key: `theme ${theme}`,
      ...THEME_TEXTS[theme],
      run: () => chooseTheme(theme),
    })),
    {
      key: "shortcuts",
      label: t("Keyboard shortcuts"),
      icon: Keyboard,
      run: () => onOpen("shortcuts"),
    },
    { key: "sign-out", label: t("Sign out"), icon: LogOut, run: () => void signOut() },
  ];
}
