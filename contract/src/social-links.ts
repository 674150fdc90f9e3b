// The services that the block with social links offers.

/** In display order, with their names in emails. */
export const SERVICE_NAMES = {
  website: "Website",
  facebook: "Facebook",
  instagram: "Instagram",
  x: "X",
  linkedin: "LinkedIn",
  youtube: "YouTube",
  tiktok: "TikTok",
  threads: "Threads",
  bluesky: "Bluesky",
  mastodon: "Mastodon",
  github: "GitHub",
  pinterest: "Pinterest",
  whatsapp: "WhatsApp",
  telegram: "Telegram",
} as const;
export type SocialService = keyof typeof SERVICE_NAMES;
export const SOCIAL_SERVICES = Object.keys(SERVICE_NAMES) as [SocialService, ...SocialService[]];
