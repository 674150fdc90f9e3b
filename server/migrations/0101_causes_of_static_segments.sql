-- A dynamic segment that stands on a static one, through others too, follows who is added to that or removed from it. Tracked ones were
-- told of none of them until now: they are computed as a whole once.
-- owner: segments
with recursive named as (
  select distinct s.project_id, s.id, lower(substring(found #>> '{}' from 9)) as inner_id
  from segments s, jsonb_path_query(s.filters, '$.**.field ? (@ starts with "segment.")') as found
), over as (
  select n.project_id, n.id from named n
  join segments s on s.project_id = n.project_id and s.id::text = n.inner_id and s.type = 'STATIC'
  union
  select n.project_id, n.id from named n
  join over o on o.project_id = n.project_id and o.id::text = n.inner_id
)
update segments s set
  causes = array(select cause from unnest(array_append(s.causes, '*')) as cause group by cause order by cause collate "C"),
  compute_due_at = case when s.track_membership then now() else s.compute_due_at end
from over where s.project_id = over.project_id and s.id = over.id and not ('*' = any(s.causes));

-- owner: reactions
insert into event_subscriptions (project_id, event_name, subscriber)
select distinct project_id, '*', 'segments' from segments
where track_membership and type = 'DYNAMIC' and '*' = any(causes)
on conflict do nothing;
