// Edits the email of a step in a dialog. It is above the panel of the step, because another person may change or delete the step meanwhile,
// and unsaved text must stay.
import { createContext, lazy, Suspense, useContext, useState, type ReactNode } from "react";

const EditTemplateDialog = lazy(async () => ({
  default: (await import("../../templates/edit-template-dialog.tsx")).EditTemplateDialog,
}));

const OpenEmail = createContext<(templateId: string) => void>(() => undefined);

/** Returns the function that opens the dialog for a template. */
export const useOpenEmail = () => useContext(OpenEmail);

interface EmailDialogsProps {
  projectId: string;
  children: ReactNode;
}

/** Shows the dialog that something within it opened. */
export function EmailDialogs({ projectId, children }: EmailDialogsProps) {
  const [templateId, setTemplateId] = useState<string | null>(null);
  return (
    <OpenEmail value={setTemplateId}>
      {children}
      {templateId !== null && (
        <Suspense fallback={null}>
          <EditTemplateDialog projectId={projectId} id={templateId} onClose={() => setTemplateId(null)} />
        </Suspense>
      )}
    </OpenEmail>
  );
}
