-- Undoing edits of a workflow's graph (docs/decisions/0145-undoing-edits-of-a-graph.md).
-- Adding the column rewrites nothing, because its default is constant.
alter table workflows
  -- Counts the edits of the graph.
  add column revision integer not null default 1;

-- The graphs before the last edits of a workflow.
-- owner: workflows
create table workflow_earlier_graphs (
  project_id uuid not null,
  workflow_id uuid not null,
  revision integer not null,
  graph jsonb not null,
  primary key (project_id, workflow_id, revision),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade
);

-- See the end of 0001_initial.sql.
alter table workflow_earlier_graphs alter column project_id set (n_distinct = 10);
