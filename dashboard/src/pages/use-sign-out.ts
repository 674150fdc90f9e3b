// Signs out and deletes what the browser keeps of the account, unless you choose to stay on a page with unsaved input.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { api } from "../api/endpoints.ts";
import { forgetBrowser } from "../session/clear-browser.ts";
import { t } from "../text/t.ts";
import { useToast } from "../ui/toasts.tsx";

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const toast = useToast();
  return async () => {
    // Navigate first, because the page may save or ask. A user who stays remains signed in.
    await navigate({ to: "/sign-in" });
    // `navigate` also resolves if the user stayed and then went to another page.
    if (router.state.location.pathname !== "/sign-in") return;
    try {
      await call(api.auth.logout);
      queries.clear();
      forgetBrowser();
    } catch {
      router.history.back();
      toast(t("You're still signed in"), t("We couldn't reach the server. Try again."));
    }
  };
}
