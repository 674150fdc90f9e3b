// The pages of a project, used by the navigation, the palette and the shortcuts.
import {
  Activity,
  ChartNoAxesColumn,
  Globe,
  House,
  KeyRound,
  LayoutTemplate,
  Mail,
  Megaphone,
  Settings,
  Shapes,
  Users,
  Workflow,
} from "lucide-react";
import { t } from "../text/t.ts";

/** `letter` opens the page when typed after `g`. */
export const PLACES = [
  { to: "/$projectId", label: t("Home"), icon: House, letter: "h" },
  { to: "/$projectId/contacts", label: t("Contacts"), icon: Users, letter: "c" },
  { to: "/$projectId/segments", label: t("Segments"), icon: Shapes, letter: "s" },
  { to: "/$projectId/templates", label: t("Templates"), icon: LayoutTemplate, letter: "t" },
  { to: "/$projectId/campaigns", label: t("Campaigns"), icon: Megaphone, letter: "m" },
  { to: "/$projectId/emails", label: t("Emails"), icon: Mail, letter: "e" },
  { to: "/$projectId/workflows", label: t("Workflows"), icon: Workflow, letter: "w" },
  { to: "/$projectId/activity", label: t("Activity"), icon: Activity, letter: "a" },
  { to: "/$projectId/reports", label: t("Reports"), icon: ChartNoAxesColumn, letter: "r" },
  { to: "/$projectId/domains", label: t("Domains"), icon: Globe, letter: "d" },
  { to: "/$projectId/keys", label: t("API keys"), icon: KeyRound, letter: "k" },
  { to: "/$projectId/settings", label: t("Settings"), icon: Settings, letter: "," },
] as const;
