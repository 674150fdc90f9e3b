-- Pauses of workflows, and failures by step (docs/decisions/0132-failing-and-paused-workflows.md).
-- Executions wait while the two indexes are created, about a second for a million of them. Both are small, because few executions are stopped
-- or failed. Adding the columns rewrites nothing.
alter table workflows
  -- Since when no execution moves. Null if the workflow is not paused.
  add column paused_at timestamptz,
  -- Why it paused automatically, as `PausedReason`. Null if a person paused it.
  add column paused_reason jsonb;
alter table workflow_executions
  -- When an execution of a paused workflow was to continue. Such an execution has no `due_at`.
  add column paused_due_at timestamptz;
alter table workflow_step_counts
  -- The contacts for which the endpoint of a WEBHOOK failed since its last success, as many as pause the workflow.
  add column failed_in_a_row uuid[] not null default '{}';
create index workflow_executions_stopped on workflow_executions (project_id, workflow_id) where paused_due_at is not null;
create index workflow_executions_failed on workflow_executions (project_id, workflow_id, step_id, id) where status = 'FAILED';
