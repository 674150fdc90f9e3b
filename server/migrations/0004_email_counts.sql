-- Counts of emails by campaign, workflow step and template, so that no request counts rows (docs/decisions/0125-email-counts.md).

-- The first use of an unsubscribe link of the email. Counted for the email's campaign, once for each recipient.
alter table emails add column unsubscribed_at timestamptz;

-- An email counts for its campaign, workflow step and template. Every statement that ends or reports an email changes its counts. The
-- rows stay as long as the emails, also after the deletion of the campaign.
-- owner: emails
create table email_counts (
  project_id uuid not null references projects (id) on delete cascade,
  -- The ID of the campaign, workflow step or template.
  subject_id uuid not null,
  -- The counts of a subject are the sums of its rows. A transaction changes a row that no other one is changing, so it never waits.
  part bigint generated always as identity,
  -- Recipients of a campaign, including those that wait in batches. Written with the snapshot.
  recipients bigint not null default 0,
  -- The emails that ended, by status. Emails with reports count as sent, and all other recipients are pending.
  sent bigint not null default 0,
  failed bigint not null default 0,
  skipped bigint not null default 0,
  unconfirmed bigint not null default 0,
  -- The emails with a report of each kind.
  delivered bigint not null default 0,
  opened bigint not null default 0,
  clicked bigint not null default 0,
  bounced bigint not null default 0,
  complained bigint not null default 0,
  unsubscribed bigint not null default 0,
  primary key (project_id, subject_id, part)
)
-- Every batch of results updates a row.
with (fillfactor = 50);
-- See the end of 0001_initial.sql.
alter table email_counts alter column project_id set (n_distinct = 10);

-- Unsubscribes by link so far. A link without an email counts for the last email to the contact before.
update emails e set unsubscribed_at = u.created_at
from (
  select c.project_id, coalesce(m.id, l.id) as id, min(c.created_at) as created_at
  from consent_changes c
  left join emails m on m.project_id = c.project_id and m.id = c.email_id
    and m.contact_id = c.contact_id and m.sent_at <= c.created_at
  left join lateral (
    select p.id from emails p
    where p.project_id = c.project_id and p.contact_id = c.contact_id and p.sent_at <= c.created_at
    order by p.sent_at desc limit 1
  ) l on c.email_id is null
  where not c.subscribed and c.source in ('page', 'one-click')
  group by 1, 2
) u
where e.project_id = u.project_id and e.id = u.id;

-- Reads every email once, about three seconds per million. No server runs during an upgrade.
insert into email_counts (project_id, subject_id, recipients, sent, failed, skipped, unconfirmed, delivered, opened, clicked, bounced,
  complained, unsubscribed)
select project_id, subject_id, sum(recipients), sum(sent), sum(failed), sum(skipped), sum(unconfirmed), sum(delivered), sum(opened),
  sum(clicked), sum(bounced), sum(complained), sum(unsubscribed)
from (
  select e.project_id, s.subject_id, count(*) filter (where s.subject_id = e.campaign_id) as recipients,
    count(*) filter (where e.status not in ('QUEUED', 'CLAIMED', 'FAILED', 'SKIPPED', 'UNCONFIRMED')) as sent,
    count(*) filter (where e.status = 'FAILED') as failed, count(*) filter (where e.status = 'SKIPPED') as skipped,
    count(*) filter (where e.status = 'UNCONFIRMED') as unconfirmed, count(e.delivered_at) as delivered, count(e.opened_at) as opened,
    count(e.clicked_at) as clicked, count(e.bounced_at) as bounced, count(e.complained_at) as complained,
    count(e.unsubscribed_at) as unsubscribed
  from emails e cross join lateral (values (e.campaign_id), (e.workflow_step_id), (e.template_id)) as s (subject_id)
  where s.subject_id is not null
  group by 1, 2
  union all
  select project_id, campaign_id, sum(cardinality(email_ids)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 from recipient_batches group by 1, 2
) counted
group by 1, 2;

-- Only counting used them.
drop index emails_by_template;
drop index emails_by_workflow_step;
