// Moves the images of a project to its link domain when an email is sent, so that templates keep addresses that always work.
import type { Content } from "./load-contents.ts";

/** Where a project's images are stored and where recipients load them: two origins, which are the same without a link domain. */
export interface ImageOrigins {
  from: string;
  to: string;
}

export interface MovedContent {
  content: Content;
  /** Distinguishes contents whose images are elsewhere. Empty if they are not moved. */
  place: string;
}

/** Returns a function that moves the images of a content. It keeps the last result of each content, because a batch repeats them. */
export function createContentMover(imagesOf: (projectId: string) => ImageOrigins) {
  const kept = new WeakMap<Content, MovedContent>();
  return (content: Content): MovedContent => {
    const { from, to } = imagesOf(content.projectId);
    if (from === to) return { content, place: "" };
    const known = kept.get(content);
    if (known?.place === to) return known;
    const html = moveImages(content.html, content.projectId, { from, to });
    const moved = { content: { ...content, html }, place: to };
    kept.set(content, moved);
    return moved;
  };
}

/** What comes before the address of an image, in attributes and in styles. Links keep their address, because it identifies them in reports. */
const BEFORE_IMAGE = /(?:\b(?:src|background)\s{0,4}=\s{0,4}["']?|url\(\s{0,4}(?:["']|&quot;)?)$/i;
const LONGEST_BEFORE = 30;

/** Moves the project's images in HTML to another origin. */
export function moveImages(html: string, projectId: string, { from, to }: ImageOrigins): string {
  if (from === to) return html;
  const images = `${from}/images/${projectId.replaceAll("-", "")}`;
  return html.replaceAll(images, (address, at: number) =>
    BEFORE_IMAGE.test(html.slice(Math.max(0, at - LONGEST_BEFORE), at))
      ? to + address.slice(from.length)
      : address,
  );
}
