// Dialogs that create something on any page and open the result.
import type { Project } from "../../session/queries.ts";
import { NewCampaignDialog } from "../campaigns/new-campaign-dialog.tsx";
import { NewContactDialog } from "../contacts/new-contact-dialog.tsx";
import { NewDomainDialog } from "../domains/new-domain-dialog.tsx";
import { NewTemplateDialog } from "../templates/new-template-dialog.tsx";
import type { NewThingName } from "./shortcuts.ts";

interface NewThingProps {
  what: NewThingName;
  project: Project;
  onClose: () => void;
}

export function NewThing({ what, project, onClose }: NewThingProps) {
  if (what === "campaign") return <NewCampaignDialog project={project} onClose={onClose} />;
  if (what === "template") return <NewTemplateDialog project={project} onClose={onClose} />;
  if (what === "contact") return <NewContactDialog projectId={project.id} onClose={onClose} />;
  return <NewDomainDialog projectId={project.id} onClose={onClose} />;
}
