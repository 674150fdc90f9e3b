-- The counts of segments whose members are stored are how many are stored: deleted contacts had stayed in them, and a refresh of a tracked one
-- counted those who match, whose entries were then counted once more.
-- owner: segments
update segments s set member_count = stored.count
from (
  select s.project_id, s.id, count(m.contact_id)::integer as count
  from segments s left join segment_members m on m.project_id = s.project_id and m.segment_id = s.id
  where s.type = 'STATIC' or s.track_membership
  group by s.project_id, s.id
) stored
where s.project_id = stored.project_id and s.id = stored.id and s.member_count <> stored.count
  -- One that is about to be computed is counted by that.
  and (s.compute_due_at is null or s.compute_due_at > now());
