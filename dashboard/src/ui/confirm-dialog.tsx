// Asks for confirmation before a permanent deletion or another serious action.
import type { ReactNode } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./states.tsx";

interface ConfirmDialogProps {
  title: string;
  description: string;
  /** Label of the confirm button. */
  action: string;
  look?: "danger" | "primary";
  /** Label of the cancel button. */
  keep?: string;
  /** The mutation that the confirm button runs. */
  doing: { error: unknown; isPending: boolean; mutate: () => void };
  onClose: () => void;
  /** Options between the description and the buttons. */
  children?: ReactNode;
}

export function ConfirmDialog({
  title,
  description,
  action,
  look = "danger",
  keep = t("Cancel"),
  doing,
  onClose,
  children,
}: ConfirmDialogProps) {
  return (
    <Dialog title={title} description={description} open onClose={onClose}>
      {doing.error !== null && <Failure error={doing.error} />}
      {children}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {keep}
        </Button>
        <Button look={look} busy={doing.isPending} onClick={() => doing.mutate()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
