// Shows whether a contact is subscribed. It doesn't say "Unsubscribed", because someone who only got a receipt never unsubscribed.
import { t } from "../../text/t.ts";
import { Badge } from "../../ui/page.tsx";

export function SubscriptionBadge({ isSubscribed }: { isSubscribed: boolean }) {
  return (
    <Badge tone={isSubscribed ? "good" : "neutral"}>
      {isSubscribed ? t("Subscribed") : t("Not subscribed")}
    </Badge>
  );
}
