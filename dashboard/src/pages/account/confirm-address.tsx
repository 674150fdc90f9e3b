// Offers the confirmation email after an action that needs a confirmed address.
import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { call, CallError } from "../../api/call.ts";
import { accountQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/states.tsx";

/** A button that sends the email; nothing unless `error` is about an unconfirmed address. */
export function ConfirmAddress({ error }: { error: unknown }) {
  const account = useQuery(accountQuery);
  const sending = useMutation({ mutationFn: () => call(api.auth.requestVerification, {}) });
  if (!(error instanceof CallError) || error.code !== "EMAIL_VERIFICATION_REQUIRED") return null;
  if (sending.isSuccess)
    return (
      <p role="status" className="text-sm text-soft">
        {t("Confirmation email sent to {email}. Open its link, then try again.", {
          email: account.data?.email ?? "",
        })}
      </p>
    );
  return (
    <>
      {sending.isError && <Failure error={sending.error} />}
      <div>
        <Button busy={sending.isPending} onClick={() => sending.mutate()}>
          {t("Send confirmation email")}
        </Button>
      </div>
    </>
  );
}
