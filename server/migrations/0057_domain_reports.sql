-- What receivers report of a sender domain: DMARC aggregate reports and SMTP TLS reports (docs/decisions/0060-domain-reports.md).

-- owner: domains
create table dmarc_reports (
  project_id  uuid        not null references projects (id) on delete cascade,
  id          uuid        not null,
  -- The verified domain of the project that it is about.
  domain      text        not null,
  reporter    text        not null,
  -- As the reporter calls it: the same one comes again when our answer was lost.
  report_id   text        not null,
  begins_at   timestamptz not null,
  ends_at     timestamptz not null,
  -- What the receiver found published: none, quarantine or reject.
  policy      text,
  received_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, domain, reporter, report_id)
);
alter table dmarc_reports alter column project_id set (n_distinct = 10);
create index dmarc_reports_old on dmarc_reports (received_at);

-- owner: domains
create table dmarc_sources (
  project_id  uuid     not null,
  report_id   uuid     not null,
  position    smallint not null,
  source_ip   text     not null,
  messages    bigint   not null,
  -- What the receiver did: none, quarantine, reject, pass.
  disposition text     not null,
  -- Whether DKIM and SPF passed for a domain that fits the one in From.
  dkim        boolean  not null,
  spf         boolean  not null,
  -- Who signed, whether it fits or not: what tells a forgotten sender from a stranger.
  signers     text[]   not null,
  primary key (project_id, report_id, position),
  foreign key (project_id, report_id) references dmarc_reports (project_id, id) on delete cascade
);
alter table dmarc_sources alter column project_id set (n_distinct = 10);

-- owner: domains
create table tls_reports (
  project_id  uuid        not null references projects (id) on delete cascade,
  id          uuid        not null,
  domain      text        not null,
  reporter    text        not null,
  report_id   text        not null,
  begins_at   timestamptz not null,
  ends_at     timestamptz not null,
  successes   bigint      not null,
  failures    bigint      not null,
  -- [{result, count, mx}], the largest first.
  details     jsonb       not null,
  received_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, domain, reporter, report_id)
);
alter table tls_reports alter column project_id set (n_distinct = 10);
create index tls_reports_old on tls_reports (received_at);
