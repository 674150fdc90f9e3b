// Shows a new secret once. Only its button closes the dialog.
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { CopyButton } from "./snippet.tsx";

interface SecretDialogProps {
  title: string;
  description: string;
  secret: string;
  /** Accessible name of the copy button. */
  copyLabel: string;
  onClose: () => void;
}

export function SecretDialog({ title, description, secret, copyLabel, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} description={description} open isHeld>
      <div className="flex items-center gap-1 rounded-md border border-line bg-side py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-xs break-all">{secret}</code>
        <CopyButton text={secret} label={copyLabel} />
      </div>
      <div className="mt-4 flex justify-end">
        <Button look="primary" onClick={onClose}>
          {t("Done")}
        </Button>
      </div>
    </Dialog>
  );
}
