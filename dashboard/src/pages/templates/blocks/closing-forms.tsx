// Edits the blocks at the end of an email: social links, the footer, and links to unsubscribe.
import type { Leaf } from "@postloft/contract/design.ts";
import type { SocialService } from "@postloft/contract/social-links.ts";
import { Link } from "@tanstack/react-router";
import { Plus, Trash2 } from "lucide-react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Field, Select } from "../../../ui/field.tsx";
import { useProject } from "../../project-shell.tsx";
import { AlignChoice } from "./parts-of-forms.tsx";

interface FormOf<Kind extends Leaf["kind"]> {
  block: Extract<Leaf, { kind: Kind }>;
  onChange: (block: Extract<Leaf, { kind: Kind }>) => void;
}

const SERVICES: Readonly<Record<SocialService, string>> = {
  website: t("Website"),
  facebook: t("Facebook"),
  instagram: t("Instagram"),
  x: "X",
  linkedin: "LinkedIn",
  youtube: "YouTube",
  tiktok: "TikTok",
  threads: t("Threads"),
  bluesky: t("Bluesky"),
  mastodon: t("Mastodon"),
  github: "GitHub",
  pinterest: t("Pinterest"),
  whatsapp: "WhatsApp",
  telegram: t("Telegram"),
};
const SERVICE_NAMES = Object.keys(SERVICES) as SocialService[];

export function SocialForm({ block, onChange }: FormOf<"social">) {
  const { links } = block;
  const put = (at: number, link: (typeof links)[number]) =>
    onChange({ ...block, links: links.map((old, place) => (place === at ? link : old)) });
  const unused = SERVICE_NAMES.find((one) => links.every(({ service }) => service !== one));
  return (
    <>
      {links.map((link, at) => (
        <div
          // oxlint-disable-next-line react/no-array-index-key -- links have no identity but their position
          key={at}
          className="grid grid-cols-[1fr_auto] items-end gap-2 @md:grid-cols-[9rem_1fr_auto]"
        >
          <div className="col-span-2 @md:col-span-1">
            <Select
              label={t("Service")}
              options={SERVICE_NAMES.map((value) => ({ value, label: SERVICES[value] }))}
              value={link.service}
              onChange={({ target }) => put(at, { ...link, service: target.value as SocialService })}
            />
          </div>
          <Field
            label={t("Link")}
            placeholder="https://example.com"
            value={link.url}
            onChange={({ target }) => put(at, { ...link, url: target.value })}
          />
          <Button
            look="quiet"
            aria-label={t("Remove {name}", { name: SERVICES[link.service] })}
            onClick={() => onChange({ ...block, links: links.filter((_old, place) => place !== at) })}
          >
            <Trash2 size={14} aria-hidden />
          </Button>
        </div>
      ))}
      <span>
        <Button
          disabled={unused === undefined}
          onClick={() =>
            unused !== undefined && onChange({ ...block, links: [...links, { service: unused, url: "" }] })
          }
        >
          <Plus size={14} aria-hidden /> {t("Add link")}
        </Button>
      </span>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

export function FooterForm({ block, onChange }: FormOf<"footer">) {
  const { id } = useProject();
  return (
    <>
      <p className="text-sm text-soft">
        {t("Unsubscribe links, postal address and logo, in each recipient's language.")}{" "}
        <Link
          to="/$projectId/settings"
          params={{ projectId: id }}
          search={{ tab: "brand" }}
          className="underline underline-offset-2 hover:text-ink"
        >
          {t("Edit brand")}
        </Link>
      </p>
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}

export function UnsubscribeForm({ block, onChange }: FormOf<"unsubscribe">) {
  return (
    <>
      <p className="text-sm text-soft">{t("Replaces the footer that we add to marketing emails.")}</p>
      <Field
        label={t("Subscription page label")}
        placeholder={t("No link")}
        value={block.manageLabel}
        onChange={({ target }) => onChange({ ...block, manageLabel: target.value })}
      />
      <AlignChoice value={block.align} onChoose={(align) => onChange({ ...block, align })} />
    </>
  );
}
