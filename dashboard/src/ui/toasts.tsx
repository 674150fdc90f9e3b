// Short messages at the edge of the screen; F6 reaches them, they wait while pointed at.
import { Toast } from "@base-ui/react/toast";
import type { ReactNode } from "react";
import { t } from "../text/t.ts";

const SHOWN_FOR_MS = 6000;

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={SHOWN_FOR_MS}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-30 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="rounded-lg bg-raised px-4 py-3 shadow-float transition duration-200 ease-out data-ending-style:opacity-0 data-starting-style:translate-y-2 data-starting-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <Toast.Title className="text-sm font-medium" />
          <Toast.Description className="text-sm wrap-break-word text-soft" />
        </div>
        <Toast.Close className="rounded-sm px-1 text-sm text-faint hover:text-ink">{t("Close")}</Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}

/** Gives the function that shows a toast. */
export function useToast(): (title: string, description?: string) => void {
  const { add } = Toast.useToastManager();
  return (title, description) => add({ title, ...(description === undefined ? {} : { description }) });
}
