-- A mail has a row from its claim on, whoever wrote it; recipients of a campaign wait in batches before that. Whose handover is
-- committed stands in the row of its sender, for all mails.

-- Recipients whose handover was committed and who have no row yet: theirs to be in doubt.
insert into emails (project_id, id, contact_id, content_id, campaign_id, priority, to_address, status, sender_id, created_at)
select b.project_id, r.id, c.id, b.content_id, b.campaign_id, 3, r.address, 'CLAIMED', b.sender_id, b.created_at
from recipient_batches b
join senders s on s.id = b.sender_id
cross join lateral unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)
left join contacts c on c.project_id = b.project_id and c.id = r.contact_id
where r.id = any(s.in_doubt)
on conflict do nothing;

-- Who has a row does not wait.
update recipient_batches b set
  email_ids = w.email_ids, contact_ids = w.contact_ids, addresses = w.addresses
from (
  select b.project_id, b.id, coalesce(array_agg(r.id order by r.id) filter (where e.id is null), '{}') as email_ids,
    coalesce(array_agg(r.contact_id order by r.id) filter (where e.id is null), '{}') as contact_ids,
    coalesce(array_agg(r.address order by r.id) filter (where e.id is null), '{}') as addresses
  from recipient_batches b
  cross join lateral unnest(b.email_ids, b.contact_ids, b.addresses) as r (id, contact_id, address)
  left join emails e on e.project_id = b.project_id and e.id = r.id
  where b.claims > 0
  group by b.project_id, b.id
) w
where b.project_id = w.project_id and b.id = w.id;
delete from recipient_batches where cardinality(email_ids) = 0;

-- Mails of before whose handover was committed.
update senders s set in_doubt = (
  select coalesce(array_agg(e.id), '{}') from emails e where e.sender_id = s.id and e.status in ('CLAIMED', 'SENDING')
    and (e.status = 'SENDING' or e.id = any(s.in_doubt)));
update emails set status = 'CLAIMED' where status = 'SENDING';

drop index recipient_batches_held;
alter table recipient_batches drop column sender_id, drop column claims, drop column due_at;

drop index emails_held;
create index emails_held on emails (sender_id) where status = 'CLAIMED';
