-- Exit conditions and goals of workflows (docs/decisions/0135-exit-conditions-and-goals.md).
-- All changes are quick: the columns rewrite nothing, and the indexes start empty. Reading the versions for them takes milliseconds, because
-- a project has few.
alter table workflow_versions
  -- Names of the events that may end an execution, and `*` for changes of the contact.
  add column exit_names text[] not null default '{}',
  -- The event that counts as success. Null without a goal.
  add column goal_name text;
create index workflow_versions_exits on workflow_versions (project_id, workflow_id) where exit_names <> '{}';
create index workflow_versions_goals on workflow_versions (project_id, goal_name) where goal_name is not null;
alter table workflow_executions
  -- When the event of the goal happened, also after the end.
  add column goal_reached_at timestamptz;
