-- What happened, counted per quarter of an hour (docs/decisions/0044-counts-of-what-happened.md). Days are days of whoever looks: there are
-- zones 30 and 45 minutes off the hour.

-- Mails by the instant of their events: of each dimension a mail has one value or none. A mail counts once in each column, but for the
-- links that machines follow: each of them counts.
-- owner: events
create table mail_counts (
  project_id      uuid        not null references projects (id) on delete cascade,
  dimension       text        not null check (dimension in ('kind', 'campaign', 'template', 'workflow', 'provider')),
  quarter         timestamptz not null,
  -- A kind, a provider, an id.
  value           text        not null,
  sent            integer     not null default 0,
  delivered       integer     not null default 0,
  opened          integer     not null default 0,
  clicked         integer     not null default 0,
  machine_opened  integer     not null default 0,
  machine_clicked integer     not null default 0,
  bounced         integer     not null default 0,
  soft_bounced    integer     not null default 0,
  complained      integer     not null default 0,
  primary key (project_id, dimension, quarter, value)
) with (fillfactor = 80);

-- All other events by name; `detail` is why, where they say so.
-- owner: events
create table event_counts (
  project_id uuid        not null references projects (id) on delete cascade,
  quarter    timestamptz not null,
  name       text        not null,
  detail     text        not null,
  count      integer     not null,
  primary key (project_id, quarter, name, detail)
) with (fillfactor = 80);

-- Every event with an id below this one is counted in the tables above, and no other.
-- owner: events
create table count_positions (
  project_id uuid primary key references projects (id) on delete cascade,
  position   uuid not null
);
