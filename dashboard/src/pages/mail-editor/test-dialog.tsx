// Sends a test email of a template or campaign, filled in for a chosen contact. Suggests recently used addresses.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountQuery, configQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { ContactChoice, type ChosenContact } from "./contact-choice.tsx";

const REMEMBERED_AS = "postloft.test-addresses";
const REMEMBERED = 4;

function remembered(): string[] {
  const kept: unknown = JSON.parse(localStorage.getItem(REMEMBERED_AS) ?? "[]");
  return Array.isArray(kept) ? kept.filter((one) => typeof one === "string") : [];
}

function remember(address: string): void {
  const others = remembered().filter((one) => one !== address);
  localStorage.setItem(REMEMBERED_AS, JSON.stringify([address, ...others].slice(0, REMEMBERED)));
}

interface TestDialogProps {
  projectId: string;
  /** Sends the test email. */
  send: (test: { email: string; contactId?: string }) => Promise<unknown>;
  onClose: () => void;
}

export function TestDialog({ projectId, send, onClose }: TestDialogProps) {
  const account = useQuery(accountQuery);
  const config = useQuery(configQuery);
  const toast = useToast();
  const [before] = useState(remembered);
  const [typed, setTyped] = useState<string | null>(null);
  const [contact, setContact] = useState<ChosenContact | null>(null);
  const email = typed ?? before[0] ?? account.data?.email ?? "";
  const address = email.trim();
  const testing = useMutation({
    mutationFn: () => send({ email: address, ...(contact === null ? {} : { contactId: contact.id }) }),
    onSuccess: () => {
      remember(address);
      const isLocal = config.data?.features.email.provider === "mailbox";
      toast(t("Test email sent"), {
        description: isLocal ? t("You'll find it in the mailbox.") : address,
        ...(isLocal && {
          action: { label: t("Open the mailbox"), run: () => void window.open("/mailbox", "_blank") },
        }),
      });
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Send test")}
      description={t("Sent with “[TEST]” in the subject and left out of reports.")}
      open
      onClose={onClose}
    >
      {before.length > 1 && (
        <div className="mb-3 flex flex-wrap gap-2">
          {before.map((one) => (
            <Button key={one} aria-pressed={one === address} onClick={() => setTyped(one)}>
              <bdi>{one}</bdi>
            </Button>
          ))}
        </div>
      )}
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2 text-sm">
        <span className="font-medium">{t("Preview as")}</span>
        <ContactChoice
          projectId={projectId}
          prompt={t("This recipient")}
          chosen={contact}
          onChoose={setContact}
        />
      </div>
      <OneFieldForm
        label={t("Email address")}
        type="email"
        value={email}
        onChange={setTyped}
        action={t("Send test")}
        asking={testing}
        onCancel={onClose}
      />
    </Dialog>
  );
}
