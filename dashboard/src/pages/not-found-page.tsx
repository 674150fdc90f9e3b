// Shown at unknown URLs and when a page crashes.
import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { t } from "../text/t.ts";
import { buttonClass } from "../ui/button.tsx";
import { Empty, Failure } from "../ui/states.tsx";

export function NotFoundPage() {
  return (
    <main className="grid min-h-dvh place-items-center">
      <Empty
        title={t("Page not found")}
        action={
          <Link to="/" className={buttonClass("plain")}>
            {t("Go to your project")}
          </Link>
        }
      >
        {t("Check the address, or go back to your project.")}
      </Empty>
    </main>
  );
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    // Load the route's data again, because the retry would otherwise fail the same way.
    void router.invalidate();
  };
  return (
    <main className="mx-auto max-w-lg px-5 py-16">
      <Failure error={error} onRetry={retry} />
    </main>
  );
}
