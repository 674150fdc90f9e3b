-- Problems of a workflow that its author confirmed, such as a loop that is meant: they no longer keep it from being enabled.
-- Owner: workflows/
alter table workflows
  add column confirmed_problems text[] not null default '{}';
