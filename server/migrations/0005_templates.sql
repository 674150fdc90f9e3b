-- What mails say, kept under an id.

-- owner: templates
create table templates (
  project_id    uuid        not null references projects (id) on delete cascade,
  id            uuid        not null,
  name          text        not null,
  description   text,
  type          text        not null check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  subject       text        not null,
  body          text        not null,
  from_address  text,
  from_name     text,
  reply_to      text,
  -- What an editor keeps beside the body.
  design        jsonb,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  primary key (project_id, id)
);

-- Which template a mail was made with, also when that is gone. It stands at the mail and not at the content: so a content
-- stays shared by all who say the same, and mails without a template, which are most, pay nothing, neither here nor in the index.
-- owner: emails
alter table emails add column template_id uuid;
-- "How many have left with it": the predicate of queries that count must say the same.
create index emails_by_template on emails (project_id, template_id)
  where template_id is not null and status not in ('QUEUED', 'CLAIMED', 'SENDING', 'FAILED', 'SKIPPED', 'UNCONFIRMED');

-- As for other bodies: lz4 where this server has it.
do $$
begin
  alter table templates alter column body set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no lz4: templates are compressed with pglz';
end
$$;
