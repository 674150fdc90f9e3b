// Says that a disabled workflow was edited since people last entered, and shows the changes before it is enabled.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import type { Workflow } from "../workflow-queries.ts";
import { versionsQuery } from "./version-queries.ts";
import { VersionsDialog } from "./versions-dialog.tsx";

export function ChangesNotice({ projectId, workflow }: { projectId: string; workflow: Workflow }) {
  const [isOpen, setOpen] = useState(false);
  const { id, enabled, version, revision } = workflow;
  const versions = useQuery({
    ...versionsQuery(projectId, id, revision),
    enabled: !enabled && version > 1,
  });
  if (enabled) return null;
  const [current, ...earlier] = versions.data?.data ?? [];
  const live = earlier.find(({ isUsed }) => isUsed);
  if (current === undefined || current.isUsed || live === undefined) return null;
  return (
    <div
      role="status"
      className="my-4 flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-hover p-4 text-sm"
    >
      <div>
        <p className="font-semibold">{t("Edited since people last entered")}</p>
        <p className="mt-1 text-soft">
          {t("They entered version {n}. Check the changes before you enable the workflow.", {
            n: live.version,
          })}
        </p>
      </div>
      <Button onClick={() => setOpen(true)}>{t("View changes")}</Button>
      {isOpen && (
        <VersionsDialog
          projectId={projectId}
          workflowId={id}
          from={live.version}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}
