// A campaign's name after a picture of its email. The list has no bodies, so each is read when its row is on the screen.
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { WithThumbnail } from "../../ui/mail-frame.tsx";

interface CampaignThumbnailProps {
  projectId: string;
  id: string;
  children: ReactNode;
}

export function CampaignThumbnail({ projectId, id, children }: CampaignThumbnailProps) {
  const [isSeen, setSeen] = useState(false);
  const campaign = useQuery({ ...query(api.campaigns.get, { projectId, params: { id } }), enabled: isSeen });
  return (
    <WithThumbnail html={campaign.data?.body} onSeen={() => setSeen(true)}>
      {children}
    </WithThumbnail>
  );
}
