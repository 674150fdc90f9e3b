-- Exit conditions of workflows (docs/decisions/0135-exit-conditions-and-goals.md).
-- Both changes are quick: the column rewrites nothing, and the index starts empty. Reading the versions for it takes milliseconds, because a
-- project has few.
alter table workflow_versions
  -- Names of the events that may end an execution, and `*` for changes of the contact.
  add column exit_names text[] not null default '{}';
create index workflow_versions_exits on workflow_versions (project_id, workflow_id) where exit_names <> '{}';
