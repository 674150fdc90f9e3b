-- Who waits for a mail of a campaign stands in batches: one row for 40 of them. A row in `emails` each gets when its mail ends.

-- owner: emails
create table recipient_batches (
  project_id uuid not null references projects on delete cascade,
  id uuid not null,
  campaign_id uuid not null,
  content_id uuid not null,
  -- Of each recipient the id of its mail, its contact and its address, in the same order.
  email_ids uuid[] not null,
  contact_ids uuid[] not null,
  addresses text[] not null,
  -- The different domains of these addresses: a batch whose destinations are all at their limits is passed over.
  domains text[] not null,
  due_at timestamptz not null default now(),
  -- Who has it in hand; null: it waits.
  sender_id uuid,
  -- How often it was claimed: a mail that somebody has in hand since an earlier claim may not leave any more. 0: no mail of it
  -- has ended.
  claims integer not null default 0,
  created_at timestamptz not null default now(),
  primary key (project_id, id),
  foreign key (project_id, content_id) references email_contents (project_id, id)
);
-- Claimed and deleted within minutes: its arrays are not worth a table of their own.
alter table recipient_batches set (toast_tuple_target = 8160);
create index recipient_batches_by_campaign on recipient_batches (project_id, campaign_id, id);
create index recipient_batches_held on recipient_batches (sender_id) where sender_id is not null;

-- Mails of batches of which this sender has committed that their handover is imminent, and which have no row yet. What of
-- them has no row when the sender dies is in doubt.
-- owner: emails
alter table senders add column in_doubt uuid[] not null default '{}';
