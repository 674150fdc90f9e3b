// Shows the saved version of an email next to the edited one.
import { t } from "../../text/t.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";

export function SavedMail({ subject, body }: { subject: string; body: string }) {
  return (
    <>
      <p className="text-sm text-soft">
        {t("Subject")} <bdi className="text-ink">{subject}</bdi>
      </p>
      <MailFrame title={t("Saved version")} html={body} className="mt-3 h-72 w-full" />
    </>
  );
}
