// Shows the transports, tests their connections, and sends a test email.
import { useMutation } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { adminApi } from "../../api/admin-endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Badge } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import type { Installation } from "./installation-query.ts";
import { Note, PartCard, TooSlow } from "./part-card.tsx";

type Tried = ApiResponse<typeof adminApi.installation.testTransports>["transports"];
type Sent = ApiResponse<typeof adminApi.installation.sendTest>;
/** The label of the transport that keeps email on the machine. */
const MAILBOX = "mailbox";

interface TransportsCardProps {
  transports: Installation["transports"];
  /** When they were read. */
  readAt: string;
}

export function TransportsCard({ transports, readAt }: TransportsCardProps) {
  const testing = useMutation({
    mutationFn: (_readAt: string) => call(adminApi.installation.testTransports),
  });
  const sending = useMutation({ mutationFn: () => call(adminApi.installation.sendTest) });
  // A refresh knows more than an earlier test.
  const tried = testing.variables === readAt ? testing.data?.transports : undefined;
  const staysHere = transports?.every(({ label }) => label === MAILBOX) === true;
  return (
    <PartCard
      title={t("Transports")}
      about={
        staysHere
          ? t("No email leaves this machine.")
          : t("How email leaves, in the order of MAIL_TRANSPORT.")
      }
      actions={
        <>
          {!staysHere && (
            <Button busy={testing.isPending} onClick={() => testing.mutate(readAt)}>
              {t("Test connections")}
            </Button>
          )}
          <Button busy={sending.isPending} onClick={() => sending.mutate()}>
            {t("Send test email")}
          </Button>
        </>
      }
    >
      {transports === null ? (
        <TooSlow />
      ) : (
        <ul className="divide-y divide-line">
          {transports.map(({ label, outage }, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- two entries may have the same label
            <TransportItem key={at} label={label} outage={outage} result={tried?.[at]} />
          ))}
        </ul>
      )}
      {[testing.error, sending.error].map(
        (error) => error !== null && <Failure key={error.message} error={error} />,
      )}
      {sending.data !== undefined && <SentNote sent={sending.data} />}
    </PartCard>
  );
}

interface TransportItemProps {
  label: string;
  outage: string | null;
  /** The result of a test, if there was one. */
  result: Tried[number] | undefined;
}

function TransportItem({ label, outage, result }: TransportItemProps) {
  const works = result?.works ?? outage === null;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-5 py-2.5 text-sm">
      <code className="font-mono text-[0.92em] wrap-anywhere">{label}</code>
      <Badge tone={works ? "good" : "bad"}>{works ? t("In service") : t("Out of service")}</Badge>
      {(result?.message ?? outage) !== null && (
        <p className="basis-full text-soft wrap-anywhere" lang="en">
          {result?.message ?? outage}
        </p>
      )}
    </li>
  );
}

function SentNote({ sent: { status, reply, transport } }: { sent: Sent }) {
  const said = reply === null ? "" : ` ${reply}`;
  return (
    <div role="status" className="border-t border-line">
      <Note>
        {status === "SENT" || status === "DELIVERED"
          ? t("Sent by {transport}.", { transport: transport ?? MAILBOX })
          : status === "FAILED" || status === "SKIPPED"
            ? t("The test email failed. The reply was:")
            : reply === null
              ? t("The test email is waiting. Check that a process with the role worker is running.")
              : t("Not sent yet. The reply was:")}
        <span className="wrap-anywhere" lang="en">
          {said}
        </span>
      </Note>
    </div>
  );
}
