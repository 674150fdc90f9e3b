-- Moves of executions to another version (docs/decisions/0140-moves-to-another-version.md).
-- Adding the column rewrites nothing. The index is small, because few executions are ever moved.
alter table workflow_executions
  -- The moves, oldest first, as a list of `Move`. Null if the execution was never moved.
  add column moves jsonb;
create index workflow_executions_moved on workflow_executions (project_id, workflow_id, id) where moves is not null;
