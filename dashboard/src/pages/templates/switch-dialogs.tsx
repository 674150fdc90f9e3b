// Asks before an email changes between blocks and HTML.
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";

interface ToHtmlProps {
  hasVersions: boolean;
  onGo: () => void;
  onClose: () => void;
}

export function ToHtml({ hasVersions, onGo, onClose }: ToHtmlProps) {
  return (
    <Dialog
      title={t("Convert to HTML?")}
      description={
        hasVersions
          ? t("You'll edit the HTML instead of blocks. The blocks stay in the version history when you save.")
          : t("You'll edit the HTML instead of blocks. You can't get the blocks back.")
      }
      open
      onClose={onClose}
    >
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button look="primary" onClick={onGo}>
          {t("Convert to HTML")}
        </Button>
      </div>
    </Dialog>
  );
}

interface ToBlocksProps {
  hasVersions: boolean;
  /** Whether the HTML is a whole document, which no block can hold. */
  isDocument: boolean;
  onGo: (keepsHtml: boolean) => void;
  onClose: () => void;
}

export function ToBlocks({ hasVersions, isDocument, onGo, onClose }: ToBlocksProps) {
  const emptied = hasVersions
    ? t(
        "This email is a full HTML page, so the block editor starts empty. The current version stays in the version history when you save.",
      )
    : t(
        "This email is a full HTML page, so the block editor starts empty. You will lose the current content.",
      );
  return (
    <Dialog
      title={t("Use the block editor?")}
      description={isDocument ? emptied : t("Keep the HTML as one block, or start with an empty email.")}
      open
      onClose={onClose}
    >
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button look={isDocument ? "primary" : "plain"} onClick={() => onGo(false)}>
          {t("Start empty")}
        </Button>
        {!isDocument && (
          <Button look="primary" onClick={() => onGo(true)}>
            {t("Keep as a block")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
