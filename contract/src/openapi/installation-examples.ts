// Example responses of the installation page, which only instance admins can call.

const ID = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f";
const AT = "2026-10-01T09:00:00.000Z";
const project = { id: ID, name: "Example" };

export const INSTALLATION_EXAMPLES = {
  "installation.get": {
    at: AT,
    version: "0.1.0",
    settings: {
      roles: ["api", "worker", "smtp"],
      signUps: false,
      verificationRequired: true,
      reputationGuard: true,
      systemFrom: "postloft@mail.example.com",
    },
    findings: [
      {
        check: "migrations",
        state: "ok",
        message: "All migrations are applied.",
        advice: null,
      },
    ],
    processes: [
      {
        id: ID,
        roles: ["api", "worker", "smtp"],
        host: "mail-1",
        version: "0.1.0",
        startedAt: AT,
        seenAt: AT,
        isAlive: true,
      },
    ],
    transports: [{ label: "smtp relay.example.com:587", outage: null }],
    throttledDomains: [],
    queues: [
      {
        project,
        kind: "CAMPAIGN",
        campaign: { id: ID, name: "October news" },
        waiting: 1200,
        due: 1200,
        held: false,
        oldestDueAt: AT,
        reason: "SENDING_RATE",
      },
    ],
    unconfirmed: 0,
    jobs: [
      {
        id: ID,
        project,
        kind: "contacts.import",
        state: "active",
        isLate: false,
        failures: 0,
        failedReason: null,
        createdAt: AT,
      },
    ],
    schedules: [{ kind: "WORKFLOW", id: ID, name: "Weekly digest", project, at: AT, isLate: false }],
    database: {
      version: "18.4",
      bytes: 734_003_200,
      connections: 12,
      maxConnections: 100,
      isElsewhere: true,
    },
    tables: [{ name: "emails", bytes: 314_572_800, rows: 1_200_000, bytesPerDay: 5_242_880 }],
    disk: { freeBytes: 42_949_672_960, totalBytes: 107_374_182_400 },
    growth: {
      since: "2026-09-01T09:00:00.000Z",
      days: 30,
      databaseBytesPerDay: 12_582_912,
      diskBytesPerDay: null,
      diskFullAt: null,
    },
  },
  "installation.projects": {
    data: [
      {
        id: ID,
        name: "Example",
        owner: "ada@example.com",
        createdAt: AT,
        disabled: false,
        removal: null,
        sendingRate: null,
        caps: { transactional: null, campaigns: 50_000, workflows: null },
        sentLast30Days: 18_240,
      },
    ],
    total: 1,
  },
  "installation.suspendProject": { changed: true },
  "installation.enableProject": { changed: true },
  "installation.testTransports": {
    transports: [
      {
        label: "smtp relay.example.com:587",
        works: true,
        message:
          "Sending email through smtp relay.example.com:587: reachable, server name relay.example.com, TLSv1.3, login accepted.",
      },
    ],
  },
  "installation.backups": {
    folder: "/data/backups",
    backups: [
      {
        name: "postloft-2026-10-01T09-00-00Z.tar.gz",
        createdAt: AT,
        bytes: 73_400_320,
        restoreTest: { at: AT, works: true, message: "1284031 rows in 96 tables" },
      },
    ],
    running: null,
    failure: null,
  },
  "installation.createBackup": {
    kind: "BACKUP",
    name: "postloft-2026-10-01T09-00-00Z.tar.gz",
    startedAt: AT,
  },
  "installation.testBackup": {
    kind: "RESTORE_TEST",
    name: "postloft-2026-10-01T09-00-00Z.tar.gz",
    startedAt: AT,
  },
  "installation.sendTest": {
    id: ID,
    status: "SENT",
    transport: "smtp relay.example.com:587",
    reply: "250 2.0.0 Ok: queued as 4F1A2",
  },
};

const INSTALLATION_BODIES = {
  "installation.suspendProject": { reason: "Sends email to a list of purchased addresses." },
  "installation.enableProject": { reason: "The owner deleted the purchased list." },
};

/** Bodies of the transports of a project. */
const TRANSPORT_BODIES = {
  "projects.createTransport": {
    name: "Newsletter server",
    url: "smtp://user:password@smtp.example.com:587",
    kinds: ["CAMPAIGN"],
  },
  "projects.updateTransport": { enabled: false },
} as const;

/** Requests of the installation page and of transports, by endpoint name. */
export const OTHER_BODIES = { ...INSTALLATION_BODIES, ...TRANSPORT_BODIES };
