-- What the sender must know of projects and campaigns stands in tables of the outbox: it asks no other (docs/decisions/0063-queues.md).

-- The queue of a project: its mail that belongs to no campaign. Closed, nothing of the project leaves, its campaigns included.
-- owner: emails
create table project_queues (
  project_id uuid primary key references projects (id) on delete cascade,
  is_open boolean not null default true,
  -- Mails a second that the project set for itself; null: none.
  sending_rate integer check (sending_rate > 0),
  tracking text not null default 'ENABLED' check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
  when_in_doubt text not null default 'RETRY' check (when_in_doubt in ('RETRY', 'WAIT')),
  -- Whether mail to addresses on the suppression list is skipped.
  suppression_list boolean not null default false
);
insert into project_queues (project_id, is_open, sending_rate, tracking, when_in_doubt, suppression_list)
select id, not disabled, sending_rate, tracking, when_in_doubt, suppression_list from projects;
alter table projects
  drop column sending_rate, drop column tracking, drop column when_in_doubt, drop column suppression_list;

-- The queue of a campaign, from its start until none of its mails waits any more.
-- owner: emails
create table campaign_queues (
  project_id uuid not null references projects (id) on delete cascade,
  campaign_id uuid not null,
  state text not null check (state in ('OPEN', 'PAUSED', 'CLOSED')),
  primary key (project_id, campaign_id)
);
insert into campaign_queues (project_id, campaign_id, state)
select project_id, id, case status when 'SENDING' then 'OPEN' when 'PAUSED' then 'PAUSED' else 'CLOSED' end
from campaigns where status in ('SENDING', 'PAUSED', 'CANCELLED') and finished_at is null;
-- The sender looks for open ones of all projects.
create index campaign_queues_open on campaign_queues (project_id, campaign_id) where state = 'OPEN';
alter table campaign_queues alter column project_id set (n_distinct = 10);
alter table project_queues alter column project_id set (n_distinct = 10);
