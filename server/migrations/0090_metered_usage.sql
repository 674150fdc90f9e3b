-- What projects used, reported to Stripe once (docs/decisions/0084-metered-usage.md).

alter table billing_customers
  -- From here on usage is reported; null: the subscription does not run, or usage is not metered.
  add column metered_from timestamptz,
  -- The last day (UTC) whose usage stands in `billing_usage`.
  add column metered_to date;

-- What a project sent of one kind on one day: written once, and then as it is reported.
-- owner: billing
create table billing_usage (
  project_id  uuid        not null references projects (id) on delete cascade,
  day         date        not null,
  category    text        not null check (category in ('transactional', 'campaigns', 'workflows')),
  customer_id text        not null,
  value       integer     not null check (value > 0),
  due_at      timestamptz not null default now(),
  tries       integer     not null default 0,
  -- Since then Stripe may have it, although no answer said so.
  open_since  timestamptz,
  reported_at timestamptz,
  -- It may have been reported, and nobody can tell any more: it is not reported again.
  in_doubt    boolean     not null default false,
  -- Why the last try failed.
  error       text,
  primary key (project_id, day, category)
);
create index billing_usage_due on billing_usage (due_at) where reported_at is null and not in_doubt;
alter table billing_usage alter column project_id set (n_distinct = 10);
