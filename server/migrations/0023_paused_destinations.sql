-- Destinations that refuse mail of a campaign for reasons of ours: what waits for them is parked, and goes on when they take mail again.
-- owner: emails
create table paused_destinations (
  project_id   uuid         not null,
  campaign_id  uuid         not null,
  -- A domain, or a provider with all of its domains.
  destination  text         not null,
  domains      text[]       not null,
  -- Mails parked here are due at an instant of its own, far away: so they are found by the index of the queue.
  number       bigint       generated always as identity,
  -- What the newest refused mail was answered.
  answer       text         not null,
  since        timestamptz  not null default now(),
  -- When a few of the mails try again.
  try_at       timestamptz  not null,
  -- How many times they were refused.
  failed_tries integer      not null default 0,
  -- The few that try; empty: none at present.
  trial_ids    uuid[]       not null default '{}',
  tried_at     timestamptz,
  -- When the members were told.
  told_at      timestamptz,
  -- It is over: what is parked goes on.
  released_at  timestamptz,
  primary key (project_id, campaign_id, destination),
  foreign key (project_id, campaign_id) references campaigns (project_id, id) on delete cascade
);
