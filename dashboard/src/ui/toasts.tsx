// Short messages at the edge of the screen. F6 focuses them, and they stay while the pointer is over them.
import { Toast } from "@base-ui/react/toast";
import type { ReactNode } from "react";
import { t } from "../text/t.ts";

const SHOWN_FOR_MS = 6_000;
/** Toasts with an action stay long enough to read, decide and reach them. */
const OFFERED_FOR_MS = 10_000;

interface ToastMore {
  description?: string;
  /** An action that can be run once. */
  action?: { label: string; run: () => void };
  /** Called when the toast disappears without its action having been used. */
  onPassed?: () => void;
}

export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider timeout={SHOWN_FOR_MS}>
      {children}
      <Toast.Portal>
        <Toast.Viewport
          aria-label={t("Notifications")}
          className="fixed right-4 bottom-4 z-30 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2"
        >
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
        <Toast.Action className="rounded-sm px-1 text-sm font-medium text-accent hover:underline" />
        <Toast.Close className="rounded-sm px-1 text-sm text-faint hover:text-ink">{t("Close")}</Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}

/** Returns a function that shows a toast, which in turn returns a function that closes the toast. */
export function useToast(): (title: string, more?: string | ToastMore) => () => void {
  const { add, close } = Toast.useToastManager();
  return (title, more = {}) => {
    const { description, action, onPassed } = typeof more === "string" ? { description: more } : more;
    let isPressed = false;
    const id = add({
      title,
      timeout: action === undefined ? SHOWN_FOR_MS : OFFERED_FOR_MS,
      ...(description === undefined ? {} : { description }),
      ...(action === undefined
        ? {}
        : {
            actionProps: {
              children: action.label,
              onClick: () => {
                isPressed = true;
                close(id);
                action.run();
              },
            },
          }),
      onClose: () => {
        if (!isPressed) onPassed?.();
      },
    });
    return () => close(id);
  };
}
