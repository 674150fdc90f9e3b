// A session that ends is renewed in a dialog over the page, so nothing typed is lost; whoever leaves for it says so and comes back.
// Before it: project-shell.tsx. After it: session/.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { OtherWays } from "../session/other-ways.tsx";
import { accountQuery } from "../session/queries.ts";
import { SignInForm } from "../session/sign-in-form.tsx";
import { t } from "../text/t.ts";
import { Dialog } from "../ui/dialog.tsx";

export function SessionRenewal() {
  const queries = useQueryClient();
  const account = useQuery(accountQuery);
  const { href } = useLocation();
  return (
    <Dialog
      title={t("Your session ended")}
      description={t("Sign in to go on; what you typed is still here.")}
      open={account.data === null}
    >
      <SignInForm onDone={() => void queries.invalidateQueries({ queryKey: ["project"] })} />
      <OtherWays next={`/app${href}`} note={t("These leave the page: what is not saved is lost.")} />
      <p className="mt-5 text-sm text-soft">
        <Link to="/sign-in" search={{ from: href }} className="font-medium text-accent hover:underline">
          {t("Leave for the sign-in page")}
        </Link>
      </p>
    </Dialog>
  );
}
