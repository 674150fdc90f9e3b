-- Campaigns: one message to many, now or later; and what came back about each mail.

-- owner: campaigns
create table campaigns (
  project_id        uuid        not null references projects (id) on delete cascade,
  id                uuid        not null,
  name              text        not null,
  description       text,
  subject           text        not null,
  body              text        not null,
  from_address      text        not null,
  from_name         text,
  reply_to          text,
  kind              text        not null default 'MARKETING' check (kind in ('MARKETING', 'TRANSACTIONAL', 'HEADLESS')),
  audience_type     text        not null check (audience_type in ('ALL', 'SEGMENT', 'FILTERED')),
  segment_id        uuid,
  audience_filter   jsonb,
  status            text        not null default 'DRAFT'
                    check (status in ('DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED')),
  scheduled_for     timestamptz,
  -- Why a schedule is held until a person decides: its time was missed by long, or its sender may not send. null: not held.
  held_reason       text,
  started_at        timestamptz,
  -- When its recipients were fixed, and how many contacts were left out why.
  snapshot_at       timestamptz,
  total_recipients  integer     not null default 0,
  excluded          jsonb       not null default '{}',
  finished_at       timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (project_id, id),
  foreign key (project_id, segment_id) references segments (project_id, id) on delete set null (segment_id)
);
create index campaigns_scheduled on campaigns (scheduled_for) where status = 'SCHEDULED';
create index campaigns_active on campaigns (project_id, id) where status in ('SENDING', 'PAUSED', 'CANCELLED') and finished_at is null;

-- What came back, beside the furthest state: null takes no room.
-- owner: emails
alter table emails
  add column delivered_at   timestamptz,
  add column opened_at      timestamptz,
  add column clicked_at     timestamptz,
  add column bounced_at     timestamptz,
  add column complained_at  timestamptz,
  drop constraint emails_status_check,
  add constraint emails_status_check check (status in ('QUEUED', 'CLAIMED', 'SENDING', 'SENT', 'FAILED', 'SKIPPED',
    'UNCONFIRMED', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'));

-- Each campaign waits in a queue of its own: one that is paused or cancelled is passed by as a whole.
drop index emails_queue;
create index emails_queue on emails (project_id, priority, due_at) where status = 'QUEUED' and campaign_id is null;
create index emails_campaign_queue on emails (project_id, campaign_id, due_at) where status = 'QUEUED' and campaign_id is not null;
