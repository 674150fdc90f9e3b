// Shows an email as a row of an inbox.
import { t } from "../../text/t.ts";

interface ShownInInbox {
  /** The name of the sender, else the address. */
  sender: string;
  subject: string;
  previewText: string;
}

/** Shows an email as the inbox of a computer and of a phone would, with the same cuts. */
export function InboxRows({ sender, subject, previewText }: ShownInInbox) {
  return (
    <div className="flex flex-col gap-3">
      <p
        title={t("Inbox on a computer")}
        className="flex gap-4 rounded-md border border-line bg-surface px-4 py-2.5 text-sm max-sm:hidden @max-md:hidden"
      >
        <bdi className="w-32 shrink-0 truncate font-semibold">{sender}</bdi>
        <span className="min-w-0 truncate">
          <bdi className="font-semibold">{subject}</bdi> <bdi className="text-faint">{previewText}</bdi>
        </span>
      </p>
      <p
        title={t("Inbox on a phone")}
        className="w-88 max-w-full rounded-md border border-line bg-surface px-4 py-2.5 text-sm"
      >
        <bdi className="block truncate font-semibold">{sender}</bdi>
        <bdi className="block truncate">{subject}</bdi>
        <bdi className="line-clamp-2 text-faint">{previewText}</bdi>
      </p>
    </div>
  );
}
