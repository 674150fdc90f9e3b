-- What is being done away with: the data of a project, or all of it; and the job that does it.
alter table projects
  add column removal text check (removal in ('RESET', 'DELETE')),
  add column removal_job uuid,
  add check ((removal is null) = (removal_job is null)),
  add check (removal is null or disabled);
