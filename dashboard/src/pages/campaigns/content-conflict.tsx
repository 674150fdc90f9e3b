// Resolves a conflict when a campaign's content was changed elsewhere while it was edited here or kept as a draft by this browser.
import { t } from "../../text/t.ts";
import { ChangedElsewhere } from "../../ui/changed-elsewhere.tsx";
import { formatAgo } from "../../ui/format.ts";
import { SavedMail } from "../mail-editor/saved-mail.tsx";
import type { Campaign } from "./campaign-queries.ts";
import type { Field } from "./content-draft.ts";

const LABELS = {
  name: t("Campaign name"),
  from: t("From"),
  fromName: t("From name"),
  replyTo: t("Reply-to"),
} as const;

interface ConflictProps {
  campaign: Campaign;
  /** Fields changed both elsewhere and here. */
  fields: readonly Field[];
  onSettle: (owner: "stored" | "typed") => void;
}

export function ContentConflict({ campaign, fields, onSettle }: ConflictProps) {
  const settings = (["name", "from", "fromName", "replyTo"] as const).filter((name) => fields.includes(name));
  return (
    <ChangedElsewhere
      said={t("Someone else changed this campaign {when}.", { when: formatAgo(campaign.updatedAt) })}
      saved={campaign}
      show={(saved) => (
        <>
          {settings.map((name) => (
            <p key={name} className="text-sm text-soft">
              {LABELS[name]} <bdi className="text-ink">{saved[name] ?? ""}</bdi>
            </p>
          ))}
          <SavedMail {...saved} />
        </>
      )}
      onSaveOver={() => onSettle("typed")}
      onTaken={() => onSettle("stored")}
    />
  );
}
