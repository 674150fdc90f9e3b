// Writes a reply to a received email as plain paragraphs.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import type { z } from "zod";
import type { fullReceivedEmail } from "@postloft/contract/received-emails.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, TextArea } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { domainsQuery } from "../domains/domains-query.ts";
import { useProject } from "../project-shell.tsx";
import { htmlOfText } from "./html-of-text.ts";

interface ReplyDialogProps {
  email: z.output<typeof fullReceivedEmail>;
  onClose: () => void;
}

export function ReplyDialog({ email: { id, from, replyTo }, onClose }: ReplyDialogProps) {
  const { id: projectId, defaultFrom } = useProject();
  const domains = useQuery(domainsQuery(projectId));
  const toast = useToast();
  const navigate = useNavigate();
  const [typedSender, setTypedSender] = useState<string | null>(null);
  const [text, setText] = useState("");
  const verified = domains.data?.find((one) => one.verified);
  const sender = typedSender ?? defaultFrom ?? (verified === undefined ? "" : `hello@${verified.domain}`);
  const address = replyTo[0]?.address ?? from.address;
  const sending = useMutation({
    mutationFn: () =>
      call(api.received.reply, {
        projectId,
        params: { id },
        body: { body: htmlOfText(text), ...(sender.trim() === "" ? {} : { from: sender.trim() }) },
      }),
    onSuccess: ({ emails }) => {
      const emailId = emails[0]?.email;
      toast(t("Reply sent"), {
        description: address,
        ...(emailId !== undefined && {
          action: {
            label: t("Open email"),
            run: () => void navigate({ to: "/$projectId/emails/$emailId", params: { projectId, emailId } }),
          },
        }),
      });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") sending.mutate();
  };
  return (
    <Dialog title={t("Reply to {address}", { address })} open onClose={onClose}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {sending.isError && <Failure error={sending.error} atInputs={["from", "body"]} />}
        <TextArea
          label={t("Message")}
          rows={8}
          autoFocus
          value={text}
          onChange={({ target }) => setText(target.value)}
          error={problemWith(sending.error, "body")}
        />
        <Field
          label={t("From")}
          value={sender}
          onChange={({ target }) => setTypedSender(target.value)}
          error={problemWith(sending.error, "from")}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={sending.isPending} disabled={text.trim() === ""}>
            {t("Send reply")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
