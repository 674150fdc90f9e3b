-- A recreated segment never takes over what refers to its predecessor (docs/decisions/0108-names-are-not-reused.md).

-- Slugs of segments that were deleted. The events `segment.<slug>.entry` of the predecessor stay with contacts, and workflows and filters
-- may still name them, so no later segment gets the slug.
-- owner: segments
create table retired_slugs (
  project_id  uuid  not null references projects (id) on delete cascade,
  slug        text  not null,
  primary key (project_id, slug)
);
alter table retired_slugs alter column project_id set (n_distinct = 10);

-- Of segments that are gone already, the slugs that events or workflows still name.
insert into retired_slugs (project_id, slug)
select distinct n.project_id, substring(n.name from '^segment\.(.+)\.(?:entry|exit)$')
from (
  select project_id, name from event_name_counts
  union all select project_id, trigger_event from workflows
) n
where n.name ~ '^segment\..+\.(entry|exit)$' and not exists (
  select 1 from segments s
  where s.project_id = n.project_id and s.slug = substring(n.name from '^segment\.(.+)\.(?:entry|exit)$'));
