// Shows the saved version of an email next to the edited one.
import { t } from "../../text/t.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";

interface SavedMailProps {
  subject: string;
  previewText: string | null;
  body: string;
}

export function SavedMail({ subject, previewText, body }: SavedMailProps) {
  return (
    <>
      <p className="text-sm text-soft">
        {t("Subject")} <bdi className="text-ink">{subject}</bdi>
      </p>
      {previewText !== null && (
        <p className="text-sm text-soft">
          {t("Preview text")} <bdi className="text-ink">{previewText}</bdi>
        </p>
      )}
      <MailFrame title={t("Saved version")} html={body} className="mt-3 h-72 w-full" />
    </>
  );
}
