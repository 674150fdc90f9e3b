// Sender domains: each has a separate DKIM key and is verified while DNS publishes it (decisions §11).
import { createPrivateKey, type KeyObject } from "node:crypto";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { LRUCache } from "lru-cache";
import { randomText, type Sealer } from "../platform/crypto.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import { asChecked, type Checked } from "../platform/checked.ts";
import type { Dns } from "../platform/dns.ts";
import { isId, newId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import { AppError } from "../platform/app-error.ts";
import type { DkimKey } from "../message/dkim.ts";
import type { SigningKey } from "../emails/sending/build-messages.ts";
import { endDefaultSenderFrom } from "../projects/default-senders.ts";
import { lockProject } from "../projects/projects.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { askMistakes, type RecordMistakes } from "./ask-mistakes.ts";
import { createDomainChecker, type DomainChecker } from "./check-domains.ts";
import { setDefaultSender } from "./default-sender.ts";
import { createKeyMaker, makeEd25519Pair, type NewKey } from "./dkim-keys.ts";
import type { DkimKeyKind } from "./dkim-record.ts";
import { promoteNextKey, updateLocalCheck } from "./check-queries.ts";
import {
  advisoryRecords,
  isVerified,
  presentDomain,
  sandbox,
  type AdvisoryRecord,
  type DomainView,
} from "./present-domain.ts";
import {
  countDomains,
  deleteDomainRow,
  findDkimKeys,
  findDomain,
  findClaims,
  insertDomain,
  insertNextDkimKey,
  listDomainRows,
  lockDomain,
  lockDomainName,
  lockProjectDomains,
  updateEd25519Key,
  updateReceives,
  type DomainRow,
  type NewDomain,
  type SealedDkimKey,
} from "./queries.ts";
import {
  ofInstallation,
  refused,
  rejectTaken,
  rotationRunning,
  sharedDomain,
  tooManyDomains,
  verifiedElsewhere,
  usedByCampaign,
  usedByTemplate,
} from "./errors.ts";
import { checkReceives, type DomainChanges, findReceivers, presentReceiving } from "./receiving.ts";
import { FORMER_KEY_MS, secondKeyOf } from "./rules.ts";

const SELECTOR_LENGTH = 8;
const MAX_KEPT_KEYS = 1_000;

/** Lookups of later folders for senders that use a domain, by name. Provided by api.ts. */
export interface DomainUse {
  templateFrom: (database: Database, projectId: string, domain: string) => Promise<string | undefined>;
  /** Returns a campaign that has not ended. */
  campaignFrom: (database: Database, projectId: string, domain: string) => Promise<string | undefined>;
}

export interface Domains {
  list(projectId: string): Promise<DomainView[]>;
  /**
   * Checks a new domain and generates its DKIM key, which takes too long for a transaction.
   * @throws AppError CONFLICT if the project has it already, or another project has verified it
   */
  checkNew(projectId: string, domain: string): Promise<Checked<NewDomain>>;
  /** @throws AppError CONFLICT as in `checkNew` */
  create(tx: Tx, projectId: string, domain: Checked<NewDomain>): Promise<DomainView>;
  /** Checks DNS now. @throws AppError DOMAIN_NOT_FOUND; CONFLICT if another project verified the domain first */
  verify(projectId: string, id: string): Promise<DomainView>;
  /**
   * Asks DNS why records do not work, without changing the domain.
   * @throws AppError DOMAIN_NOT_FOUND
   */
  diagnose(projectId: string, id: string): Promise<RecordMistakes[]>;
  /**
   * Generates the next DKIM key of a domain, which takes too long for a transaction.
   * @throws AppError DOMAIN_NOT_FOUND; CONFLICT while there are two keys
   */
  makeNextKey(projectId: string, id: string): Promise<SealedDkimKey>;
  /**
   * Adds a second DKIM key, which signs once DNS publishes it. The first key stays published for a while.
   * @throws AppError DOMAIN_NOT_FOUND; CONFLICT while there are two keys
   */
  rotateKey(tx: Tx, projectId: string, id: string, key: SealedDkimKey): Promise<DomainView>;
  /**
   * Enables or disables an Ed25519 key in addition to the RSA key, which signs while DNS publishes it, and receiving at the domain.
   * @throws AppError DOMAIN_NOT_FOUND; CONFLICT for the installation's domain, and for receiving if the installation receives no email
   */
  update(tx: Tx, projectId: string, id: string, changes: DomainChanges): Promise<DomainView>;
  /**
   * Deletes a domain and returns its name.
   * @throws AppError DOMAIN_NOT_FOUND; CONFLICT while a template or unfinished campaign sends from it
   */
  delete(tx: Tx, projectId: string, id: string, use: DomainUse): Promise<string>;
  /** Locks an existing domain until the transaction ends, so that a deletion sees the sender being created. */
  hold(tx: Tx, owner: DomainOwner): Promise<void>;
  /** Returns how each domain signs. The others are missing or contain the reason for the rejection. */
  findSigningKeys(
    names: ReadonlyArray<{ projectId: string; domain: string }>,
    database?: Database,
  ): Promise<Map<string, SigningKey>>;
  /** Returns the receiver of each domain that is or was recently verified. Other domains are missing. */
  findReceivers(names: readonly string[], database?: Database): ReturnType<typeof findReceivers>;
  /** Returns the `spf` record that receivers check and the `dmarc` record of a domain. Empty while email stays on this machine. */
  advisoryRecords(projectId: string, domain: string): Promise<AdvisoryRecord[]>;
  /** Checks a batch of due domains. */
  checkDue: DomainChecker["checkDue"];
}

/**
 * `staysHere`: the transport is the local mailbox, so that no email leaves this machine and DNS is not asked. `returnPath`: the domain of
 * every envelope sender; null if each sender domain is its own return path. `inboundHost`: the MX host of receiving domains.
 */
// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createDomains(options: {
  database: Database;
  sealer: Sealer;
  dns: Dns;
  staysHere: boolean;
  returnPath: string | null;
  inboundHost?: string | null;
  baseUrl: () => string;
  log: Log;
}): Domains {
  const { database, sealer, dns, staysHere, returnPath, inboundHost = null, baseUrl, log } = options;
  const keyMaker = createKeyMaker();
  const checker = createDomainChecker({ database, dns, returnPath, baseUrl, log });
  const present = (row: DomainRow): DomainView => ({
    ...presentDomain(row, staysHere, returnPath),
    receiving: presentReceiving(row, inboundHost),
  });
  /** One key per domain and kind, so that a former key is dropped from the cache. */
  const keys = new LRUCache<string, { selector: string; key: KeyObject }>({ max: MAX_KEPT_KEYS });

  function keyOf(owner: DomainOwner, kind: DkimKeyKind, selector: string, sealed: Buffer): DkimKey {
    const name = ownerName(owner);
    const known = keys.get(`${name} ${kind}`);
    const { domain } = owner;
    if (known?.selector === selector) return { domain, selector, privateKey: known.key };
    const key = createPrivateKey(sealer.open(sealed, name));
    keys.set(`${name} ${kind}`, { selector, key });
    return { domain, selector, privateKey: key };
  }

  function seal(owner: DomainOwner, { privatePem, publicKey }: NewKey): SealedDkimKey {
    return {
      selector: `pl${randomText(SELECTOR_LENGTH).toLowerCase()}`,
      publicKey,
      sealedPrivateKey: sealer.seal(privatePem, ownerName(owner)),
    };
  }

  async function makeKey(projectId: string, domain: string): Promise<SealedDkimKey> {
    return seal({ projectId, domain }, await keyMaker.make(projectId));
  }

  /** Verifies the domain for the project unless another project was first. */
  async function verifyLocally(tx: Tx, row: DomainRow): Promise<void> {
    if (row.lastCheckedAt === null) await lockProject(tx, row.projectId);
    await lockDomainName(tx, row.domain);
    const others = (await findClaims(tx, row.domain)).filter((one) => one.projectId !== row.projectId);
    if (!isVerified(row, staysHere)) rejectTaken(others, row.projectId, staysHere);
    await updateLocalCheck(tx, row);
    if (row.lastCheckedAt === null) await setDefaultSender(tx, row, staysHere);
    await promoteNextKey(tx, row, FORMER_KEY_MS);
  }

  async function refuseNew(within: Database, projectId: string, domain: string): Promise<void> {
    rejectTaken(await findClaims(within, domain), projectId, staysHere);
    if ((await countDomains(within, projectId)) < LIMITS.domains.value) return;
    throw tooManyDomains();
  }

  function isSandbox(projectId: string, id: string): boolean {
    return staysHere && id === sandbox(projectId).id;
  }

  return {
    checkDue: async (signal) => (staysHere ? 0 : checker.checkDue(signal)),
    async list(projectId) {
      const rows = await listDomainRows(database, projectId);
      const views = rows.map(present);
      return staysHere ? [...views, sandbox(projectId)] : views;
    },
    async advisoryRecords(projectId, domain) {
      if (staysHere) return [];
      const row = (await listDomainRows(database, projectId)).find((one) => one.domain === domain);
      return row === undefined ? [] : advisoryRecords(present(row));
    },
    async checkNew(projectId, domain) {
      if (domain === SANDBOX_DOMAIN) throw sharedDomain();
      // Checked before the costly generation of a key, and again when the domain is inserted.
      await refuseNew(database, projectId, domain);
      return asChecked({ domain, key: await makeKey(projectId, domain) });
    },
    async create(tx, projectId, { domain, key }) {
      await lockProjectDomains(tx, projectId);
      await lockDomainName(tx, domain);
      await refuseNew(tx, projectId, domain);
      const id = newId();
      await insertDomain(tx, { projectId, id }, domain, key);
      return present(await getRow(tx, projectId, id));
    },
    async verify(projectId, id) {
      if (isSandbox(projectId, id)) return sandbox(projectId);
      const row = await getRow(database, projectId, id);
      if (staysHere) await transaction(database, (tx) => verifyLocally(tx, row));
      else if ((await checker.check(row)).isTaken) throw verifiedElsewhere();
      return present(await getRow(database, projectId, id));
    },
    async diagnose(projectId, id) {
      if (isSandbox(projectId, id)) return [];
      const view = present(await getRow(database, projectId, id));
      return staysHere ? [] : askMistakes(dns, view);
    },
    async makeNextKey(projectId, id) {
      if (isSandbox(projectId, id)) throw ofInstallation("has no key");
      const row = await getRow(database, projectId, id);
      if (secondKeyOf(row) !== null) throw rotationRunning(row);
      return makeKey(projectId, row.domain);
    },
    async rotateKey(tx, projectId, id, key) {
      const isNew = await insertNextDkimKey(tx, { projectId, id }, key);
      if (isNew) return present(await getRow(tx, projectId, id));
      throw rotationRunning(await getRow(tx, projectId, id));
    },
    async update(tx, projectId, id, { ed25519, receiving }) {
      if (isSandbox(projectId, id)) throw ofInstallation("has no key");
      const { domain } = await getRow(tx, projectId, id);
      if (ed25519 !== undefined) {
        const key = ed25519 ? seal({ projectId, domain }, await makeEd25519Pair()) : null;
        await updateEd25519Key(tx, { projectId, id }, key);
      }
      if (receiving === true) checkReceives(inboundHost);
      if (receiving !== undefined) await updateReceives(tx, { projectId, id }, receiving);
      return present(await getRow(tx, projectId, id));
    },
    findReceivers: (names, within = database) => findReceivers(within, names, staysHere),
    async delete(tx, projectId, id, use) {
      if (isSandbox(projectId, id)) throw ofInstallation("cannot be removed");
      const { domain } = await getRow(tx, projectId, id);
      // Deletes the row first. This waits for transactions that create a sender, and later ones find no domain.
      if (!(await deleteDomainRow(tx, { projectId, id }))) throw new AppError("DOMAIN_NOT_FOUND");
      const template = await use.templateFrom(tx, projectId, domain);
      if (template !== undefined) throw usedByTemplate(template, domain);
      const campaign = await use.campaignFrom(tx, projectId, domain);
      if (campaign !== undefined) throw usedByCampaign(campaign, domain);
      await endDefaultSenderFrom(tx, projectId, domain);
      return domain;
    },
    hold: lockDomain,
    async findSigningKeys(names, within = database) {
      const found = new Map<string, SigningKey>();
      const asked = new Map(names.map((name) => [`${name.projectId} ${name.domain}`, name]));
      for (const [key, { domain }] of asked) {
        found.set(key, staysHere && domain === SANDBOX_DOMAIN ? { kind: "unsigned" } : refused(domain));
      }
      const real = [...asked.values()].filter(({ domain }) => domain !== SANDBOX_DOMAIN);
      for (const row of real.length === 0 ? [] : await findDkimKeys(within, real)) {
        if (!isVerified(row, staysHere)) continue;
        const owner = { projectId: row.projectId, domain: row.domain };
        const rsa = keyOf(owner, "rsa", row.dkimSelector, row.dkimPrivateKey);
        const { ed25519Selector: selector, ed25519PrivateKey: sealed } = row;
        const beside =
          selector === null || sealed === null ? [] : [keyOf(owner, "ed25519", selector, sealed)];
        found.set(ownerName(owner), { kind: "key", keys: [rsa, ...beside] });
      }
      return found;
    },
  };
}

interface DomainOwner {
  projectId: string;
  domain: string;
}

function ownerName({ projectId, domain }: DomainOwner): string {
  return `${projectId} ${domain}`;
}

async function getRow(database: Database, projectId: string, id: string): Promise<DomainRow> {
  const row = isId(id) ? await findDomain(database, { projectId, id }) : undefined;
  if (row === undefined) throw new AppError("DOMAIN_NOT_FOUND");
  return row;
}
