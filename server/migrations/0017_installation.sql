-- Which database this is and how far it is, so that one that went back to an earlier state is noticed.

-- One row. Each process keeps the last it saw of it outside of the database too (platform/stamp).
-- owner: platform
create table installation (
  is_single boolean primary key default true check (is_single),
  -- Given at the first start.
  id uuid,
  -- Where it was seen last: a copy elsewhere has others.
  system_identifier text,
  database_oid text,
  timeline text,
  -- Goes up each time it is found elsewhere or earlier than it was, with the heartbeat it had then.
  incarnation integer not null default 0,
  incarnation_beat bigint not null default 0,
  -- Counts the heartbeats of all processes.
  beat bigint not null default 0,
  beat_at timestamptz not null default now(),
  -- Set by whoever restores it: everything is held at the next look.
  hold_asked boolean not null default false,
  -- When everything was held last, and why; `held_since` is null when that is over.
  went_back_at timestamptz,
  held_since timestamptz,
  held_reason text
);
insert into installation default values;
