// Shows whether the second factor is on, and opens the dialogs that change it.
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatDay } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";

const dialogs = () => import("./second-factor-dialogs.tsx");
const SwitchOnDialog = lazy(async () => ({ default: (await dialogs()).SwitchOnDialog }));
const SwitchOffDialog = lazy(async () => ({ default: (await dialogs()).SwitchOffDialog }));
const NewCodesDialog = lazy(async () => ({ default: (await dialogs()).NewCodesDialog }));
/** Suggest new recovery codes from here on down. */
const FEW_CODES = 3;

export function SecondFactorCard() {
  const factor = useQuery(query(api.users.secondFactor));
  const [asked, setAsked] = useState<"on" | "off" | "codes" | null>(null);
  const close = () => setAsked(null);
  const { isOn = false, since = null, recoveryCodesLeft = 0 } = factor.data ?? {};
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3 last:border-b-0">
        <div>
          <h2 className="font-semibold">
            {t("Two-factor authentication")}{" "}
            {factor.isSuccess && <Badge tone={isOn ? "good" : "neutral"}>{isOn ? t("On") : t("Off")}</Badge>}
          </h2>
          <p className="text-sm text-soft">
            {t("Ask for a code from an authenticator app when you sign in.")}
          </p>
        </div>
        {factor.isSuccess && !isOn && <Button onClick={() => setAsked("on")}>{t("Turn on")}</Button>}
      </header>
      {factor.isPending && <Skeleton className="m-5 h-10" />}
      {factor.isError && <Failure error={factor.error} onRetry={() => void factor.refetch()} />}
      {isOn && (
        <div className="flex flex-wrap items-center gap-2 px-5 py-3">
          <p className="min-w-48 flex-1 text-sm">
            {since !== null && t("On since {day}.", { day: formatDay(since) })}{" "}
            <span className={recoveryCodesLeft <= FEW_CODES ? "text-warn" : "text-soft"}>
              {plural(recoveryCodesLeft, "{n} recovery code left.", "{n} recovery codes left.")}
            </span>
          </p>
          <Button look="quiet" onClick={() => setAsked("codes")}>
            {t("New recovery codes")}
          </Button>
          <Button look="quiet" onClick={() => setAsked("off")}>
            {t("Turn off")}
          </Button>
        </div>
      )}
      <Suspense>
        {asked === "on" && <SwitchOnDialog onClose={close} />}
        {asked === "off" && <SwitchOffDialog onClose={close} />}
        {asked === "codes" && <NewCodesDialog onClose={close} />}
      </Suspense>
    </Card>
  );
}
