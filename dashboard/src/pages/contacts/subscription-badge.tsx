// Shows whether a contact is subscribed.
import { t } from "../../text/t.ts";
import { Badge } from "../../ui/page.tsx";

export function SubscriptionBadge({ isSubscribed }: { isSubscribed: boolean }) {
  return (
    <Badge tone={isSubscribed ? "good" : "neutral"}>
      {isSubscribed ? t("Subscribed") : t("Unsubscribed")}
    </Badge>
  );
}
