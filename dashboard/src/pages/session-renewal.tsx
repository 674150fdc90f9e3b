// Renews an ended session in a dialog above the page, so that nothing typed is lost. Pending calls continue after sign-in.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { renewal } from "../api/renewal.ts";
import { projectKey } from "../api/query-key.ts";
import { OtherWays } from "../session/other-ways.tsx";
import { accountQuery } from "../session/queries.ts";
import { SignInForm } from "../session/sign-in-form.tsx";
import { t } from "../text/t.ts";
import { Dialog } from "../ui/dialog.tsx";

export function SessionRenewal() {
  const queries = useQueryClient();
  const { data: account } = useQuery(accountQuery);
  const { href } = useLocation();
  const last = useRef(account);
  useEffect(() => renewal.offer(() => queries.setQueryData(accountQuery.queryKey, null)), [queries]);
  // The session may be renewed by the form below, a passkey or another tab.
  useEffect(() => {
    if (account == null) return;
    renewal.end(last.current == null || last.current.id === account.id);
    last.current = account;
  }, [account]);
  return (
    <Dialog
      title={t("Your session has ended")}
      description={t("Sign in to continue. Your changes are still here.")}
      open={account === null}
    >
      <SignInForm
        lastEmail={last.current?.email}
        onDone={() => void queries.invalidateQueries({ queryKey: projectKey() })}
      />
      <OtherWays
        next={`/app${href}`}
        note={t("These options leave the page, and you lose unsaved changes.")}
      />
      <p className="mt-5 text-sm text-soft">
        <Link
          to="/sign-in"
          search={{ from: href }}
          // Fail waiting calls first, because they would block the navigation.
          onClick={renewal.giveUp}
          className="font-medium text-accent hover:underline"
        >
          {t("Go to the sign-in page")}
        </Link>
      </p>
    </Dialog>
  );
}
