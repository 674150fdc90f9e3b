// Shows an uploaded image in a small box, with its path on this server, because the public address may be another origin.
import type { ApiResponse } from "../../api/address.ts";
import type { api } from "../../api/endpoints.ts";

export type StoredImage = ApiResponse<typeof api.uploads.list>["data"][number];

interface ThumbnailProps {
  image: Pick<StoredImage, "key">;
  className: string;
}

/** The name next to the thumbnail describes it. */
export function Thumbnail({ image, className }: ThumbnailProps) {
  return (
    <img
      src={`/images/${image.key}`}
      alt=""
      loading="lazy"
      decoding="async"
      className={`rounded-sm bg-side object-contain ${className}`}
    />
  );
}
