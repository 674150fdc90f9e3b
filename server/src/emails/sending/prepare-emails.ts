// Turns claimed rows into signed messages by loading contents and contacts, rendering, building and signing. An email that cannot be
// prepared fails alone.
import { footerLookOf, type FooterLook } from "@postloft/contract/footer-frame.ts";
import { domainOf } from "@postloft/contract/address.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Database } from "../../platform/database/database.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { createLinkStore, type LinkedContent } from "./content-links.ts";
import type { Copies } from "../outbox/emails.ts";
import {
  createMessageBuilder,
  type MessageNames,
  type SigningKey,
  type TransportFacts,
} from "./build-messages.ts";
import { createContentMover, moveImages, type ImageOrigins } from "./image-addresses.ts";
import { contentKey, createContentLoader, type Content } from "./load-contents.ts";
import type { BodyResult, MailTracking, Renderer } from "../../rendering/renderer.ts";
import { buildPlatformEmail, type SystemAddress } from "../platform-email/prepare-platform-email.ts";
import { readKnownFields } from "./known-fields.ts";
import { NO_OWN_TRANSPORTS, type Choose, type OwnTransports } from "./own-transports.ts";
import { kindOf, messageIdOf } from "../rows/rules.ts";
import { recipientOf, renderedAs, type LinksOf } from "../rows/rendered-as.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";
import { readSuppressed, whyUnwanted, type FindSuppressed } from "./suppressed-mail.ts";
import { SYSTEM_PROJECT_ID } from "../rows/system-project.ts";
import {
  asksForFooter,
  templateVariables,
  type Footer,
  type Recipient,
} from "../../rendering/template-variables.ts";
import type { Prepared, Unready } from "../rows/prepared.ts";
import { isTracked } from "../rows/tracking-rules.ts";

/** Dependencies from higher layers, provided by main.ts. */
export interface Ports extends MessageNames {
  /** Contacts by id, for template variables. */
  readContacts(
    keys: ReadonlyArray<{ projectId: string; id: string }>,
  ): Promise<Map<string, { email: string; subscribed: boolean; data: Record<string, unknown> }>>;
  /** Returns which of the names are contact fields of the project. Without it, none is. */
  findFields?(projectId: string, names: readonly string[]): Promise<string[]>;
  /** Looks up suppressed addresses. Without it, only the pre-send check applies. */
  findSuppressed?: FindSuppressed;
  /** Returns the keys with which a project may sign for each domain, or the reason why it may not send. */
  findSigningKeys(
    domains: ReadonlyArray<{ projectId: string; domain: string }>,
  ): Promise<Map<string, SigningKey>>;
  /** Returns the three public links of a recipient. */
  linksOf: LinksOf;
  /** Returns how links and pixel of an email are written. Without it, nothing is tracked. */
  trackingOf?(projectId: string, emailId: string): MailTracking;
  /** Returns where the images of a project are. Without it, they stay at the address in the content. */
  imagesOf?(projectId: string): ImageOrigins;
  /** Returns the footers of marketing emails in order, each in the recipient's language. */
  readFooters(
    recipients: ReadonlyArray<{
      projectId: string;
      locale: unknown;
      unsubscribeUrl: string;
      manageUrl: string;
      look: FooterLook | null;
    }>,
  ): Promise<Footer[]>;
}

const IN_PLACE: ImageOrigins = { from: "", to: "" };

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createPreparer(options: {
  database: Database;
  renderer: Renderer;
  ports: Ports;
  /** The sender of platform email. */
  systemFrom: SystemAddress;
  /** The transport of the installation. */
  installation?: TransportFacts;
  /** The transports of projects. Without it, all email takes the installation's transport. */
  ownTransports?: OwnTransports;
}) {
  const { database, renderer, ports, systemFrom, installation = {} } = options;
  const ownTransports = options.ownTransports ?? NO_OWN_TRANSPORTS;
  const loadContents = createContentLoader(database);
  const storeLinks = createLinkStore(database);
  const imagesOf = (projectId: string) => ports.imagesOf?.(projectId) ?? IN_PLACE;
  const moveContent = createContentMover(imagesOf);
  const builder = createMessageBuilder({ ports, installation });

  async function prepareOne(
    row: ClaimedRow,
    content: Content,
    key: SigningKey | undefined,
    { rendered, unsubscribeUrl }: Rendered,
    copies: Copies,
    choose: Choose | null,
  ): Promise<Prepared> {
    if (key === undefined || key.kind === "refused")
      return { kind: "failed", row, reason: key?.reason ?? recordedReason("senderNotVerified") };
    const email = { kind: kindOf(row.priority), domain: domainOf(content.fromAddress) };
    const chosen = choose?.(email) ?? null;
    const mail = { row, content, key, chosen };
    if (content.raw !== null)
      return builder.finish(mail, builder.buildRaw(row, content, content.raw, chosen));
    if (rendered === undefined || !rendered.ok)
      return { kind: "failed", row, reason: rendered?.reason ?? recordedReason("notRendered") };
    const built = builder.build(row, content, { ...rendered, unsubscribeUrl, cc: copies.cc, chosen });
    return builder.finish(mail, built, copies);
  }

  /** Reads the footers for contents that have one. Recipients who cannot unsubscribe get none. */
  async function readFooters(
    mails: ReadonlyArray<{ row: ClaimedRow; content: Content; recipient: Omit<Recipient, "footer"> }>,
  ): Promise<Map<ClaimedRow, Footer>> {
    const contents = [...new Set(mails.map(({ content }) => content))].filter(asksForFooter);
    const looks = new Map(contents.map((content) => [content, footerLookOf(content.html)]));
    const asked = mails.flatMap(({ row, content, recipient: { links, data } }) =>
      links === null || !looks.has(content)
        ? []
        : [
            {
              row,
              projectId: row.projectId,
              locale: data["locale"],
              look: looks.get(content) ?? null,
              ...links,
            },
          ],
    );
    const footers = asked.length === 0 ? [] : await ports.readFooters(asked);
    return new Map(
      asked.flatMap(({ row, projectId }, at) => {
        const footer = footers[at];
        if (footer === undefined) return [];
        return [[row, { ...footer, html: moveImages(footer.html, projectId, imagesOf(projectId)) }] as const];
      }),
    );
  }

  /** Returns how to choose a transport for the rows of a claim, or null if their project has none of its own. */
  async function chooserOf(row: ClaimedRow | undefined): Promise<Choose | null> {
    return row?.ownTransports === true ? ownTransports.of(row.projectId, row.queueVersion) : null;
  }

  /** Loads the contents and the signing keys of their domains. */
  async function readContents(rows: readonly ClaimedRow[]) {
    const found = await loadContents(rows);
    const domains = [...found.values()].map(({ content }) => ({
      projectId: content.projectId,
      domain: domainOf(content.fromAddress),
    }));
    return { found, keys: await ports.findSigningKeys(domains) };
  }

  /** Prepares a batch and returns one entry per row, in order. Throws only if the database is unreachable. */
  return async function prepare(rows: readonly ClaimedRow[]): Promise<Prepared[]> {
    // All rows of a claim are of one project.
    if (rows[0]?.projectId === SYSTEM_PROJECT_ID) return rows.map((row) => prepareSystem(row, systemFrom));
    const [choose, { found, keys }, contacts, suppressed] = await Promise.all([
      chooserOf(rows[0]),
      readContents(rows),
      ports.readContacts(rows.flatMap(contactKeyOf)),
      readSuppressed(rows, ports.findSuppressed),
    ]);
    // The pre-send check decides in the end. Checking here saves the work for contacts who unsubscribed earlier.
    const unwanted = (row: ClaimedRow, content: Content) =>
      whyUnwanted(row, content, contacts.get(row.contactId ?? ""), suppressed);
    const renderable = rows.flatMap((row) => {
      const { content, attachments = null } = found.get(contentKey(row)) ?? {};
      if (content === undefined || content.raw !== null || attachments === null) return [];
      if (unwanted(row, content) !== null) return [];
      const recipient = recipientOf(row, contacts.get(renderedAs(row) ?? ""), ports.linksOf);
      return [{ row, content, moved: moveContent(content), attachments, recipient }];
    });
    const footers = await readFooters(renderable);
    const knownFields = await readKnownFields(ports, rows[0]?.projectId, renderable);
    const rendered = await renderer.renderBodies(
      renderable.map(({ row, moved: { content, place }, attachments, recipient }) => ({
        contentKey: `${contentKey(row)}${place}`,
        content,
        messageId: messageIdOf(row.id, content.fromAddress),
        attachments,
        variables: templateVariables({ ...recipient, footer: footers.get(row) ?? null, knownFields }),
        tracking: trackingOf(row, content, ports),
      })),
    );
    const results = new Map(
      pairUp(renderable, rendered).map(([{ row, recipient }, result]) => [
        row,
        { rendered: result, unsubscribeUrl: recipient.links?.unsubscribeUrl ?? null },
      ]),
    );
    await storeLinks([...results].map(([row, result]) => linksOf(row, result.rendered)));
    return Promise.all(
      rows.map(async (row): Promise<Prepared> => {
        const { content, attachments } = found.get(contentKey(row)) ?? {};
        if (content === undefined) return { kind: "failed", row, reason: recordedReason("contentMissing") };
        const reason = unwanted(row, content);
        if (reason !== null) return { kind: "skipped", row, reason };
        if (attachments === null) return { kind: "failed", row, reason: recordedReason("fileMissing") };
        const key = keys.get(`${row.projectId} ${domainOf(content.fromAddress)}`);
        const copies = suppressed.copiesOf(row);
        return prepareOne(row, content, key, results.get(row) ?? NOT_RENDERED, copies, choose).catch(
          (error) => notBuilt(row, error),
        );
      }),
    );
  };
}

function prepareSystem(row: ClaimedRow, from: SystemAddress): Prepared {
  try {
    return {
      kind: "ready",
      row,
      message: buildPlatformEmail(row, from),
      ownSubject: null,
      listKind: null,
      chosen: null,
    };
  } catch (error) {
    return notBuilt(row, error);
  }
}

function contactKeyOf(row: ClaimedRow): Array<{ projectId: string; id: string }> {
  const id = renderedAs(row);
  return id === null ? [] : [{ projectId: row.projectId, id }];
}

function notBuilt(row: ClaimedRow, error: unknown): Unready {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: "failed", row, reason: recordedReason("notBuilt", { message }) };
}

/** The rendered body for one recipient. */
interface Rendered {
  rendered: BodyResult | undefined;
  /** null: the recipient cannot unsubscribe. */
  unsubscribeUrl: string | null;
}

const NOT_RENDERED: Rendered = { rendered: undefined, unsubscribeUrl: null };

function trackingOf(row: ClaimedRow, content: Content, ports: Ports): MailTracking | null {
  const mail = {
    tracked: content.tracked,
    listKind: content.listKind,
    isOfCampaign: row.campaignId !== null,
  };
  if (!isTracked(row.tracking, mail)) return null;
  return ports.trackingOf?.(row.projectId, row.id) ?? null;
}

function linksOf(row: ClaimedRow, rendered: BodyResult | undefined): LinkedContent {
  const links = rendered?.ok === true ? rendered.links : [];
  const { projectId, contentId, queueVersion } = row;
  return { projectId, contentId, queueVersion, links };
}
