// The draft of a brand in the settings.
import type { Brand } from "@postloft/contract/brand.ts";
import type { Project } from "../../session/queries.ts";

export interface BrandDraft extends Brand {
  logoUrl: string;
  postalAddress: string;
}

export function draftOf({ brand, logoUrl, postalAddress }: Project): BrandDraft {
  return { ...brand, logoUrl: logoUrl ?? "", postalAddress: postalAddress ?? "" };
}

const textOrNull = (text: string) => (text.trim() === "" ? null : text);

/** Returns the changed fields in the API's format. */
export function changeOf(before: BrandDraft, after: BrandDraft) {
  const changed = (Object.keys(after) as Array<keyof BrandDraft>).filter(
    (name) => before[name] !== after[name],
  );
  const { logoUrl, postalAddress, ...brand } = Object.fromEntries(
    changed.map((name) => [name, after[name]]),
  ) as Partial<BrandDraft>;
  return {
    ...(logoUrl === undefined ? {} : { logoUrl: textOrNull(logoUrl) }),
    ...(postalAddress === undefined ? {} : { postalAddress: textOrNull(postalAddress) }),
    ...(Object.keys(brand).length === 0 ? {} : { brand }),
  };
}
