-- Mail of the installation itself goes through the outbox, under a project of its own (docs/decisions/0070-system-mail.md).

-- No key opens it and nobody is a member.
insert into projects (id, name) values ('00000000-0000-7000-8000-000000000000', 'System mail');
insert into project_queues (project_id, tracking) values ('00000000-0000-7000-8000-000000000000', 'DISABLED');

-- One for all of its mails: what each of them says is in its variables, and is erased with them.
insert into email_contents (project_id, id, from_address, subject, html, tracked)
values ('00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001', '', 'System mail', '', false);

-- Whatever ends such a mail erases what it said: there may be a secret in it.
alter table emails add constraint emails_system_variables_check check (
  project_id <> '00000000-0000-7000-8000-000000000000' or variables is null or status in ('QUEUED', 'CLAIMED')
);

-- An attempt counted from its claim on, and counts from its end from now on. What a sender had in handover is in doubt: tried once more
-- after a wait if it was the first attempt. Texts that the local mailbox showed are not carried over.
insert into emails (project_id, id, content_id, priority, status, to_address, subject, variables, attempts, due_at, reason, created_at,
  sent_at, transport, answer)
select '00000000-0000-7000-8000-000000000000', id, '00000000-0000-7000-8000-000000000001', 1, became, to_address, subject,
  case when became = 'QUEUED' then jsonb_build_object('subject', subject, 'text', text, 'html', html) end,
  attempts - (status = 'CLAIMED')::integer,
  case when status = 'SENDING' then now() + interval '30 seconds' else due_at end,
  case when became <> 'SENT' then answer end, created_at,
  case when became = 'SENT' then ended_at end, case when became = 'SENT' then transport end,
  case when became = 'SENT' then answer end
from (
  select *, case
    when status = 'SENDING' and attempts > 1 then 'UNCONFIRMED'
    when status in ('CLAIMED', 'SENDING') then 'QUEUED'
    else status end as became
  from system_mails
) old;

-- Nothing was kept of single attempts: the last one of a mail that is not over may have ended in doubt, and then the next one may not.
insert into email_attempts (project_id, email_id, attempt, outcome, answer)
select '00000000-0000-7000-8000-000000000000', id, attempts - (status = 'CLAIMED')::integer, 'uncertain',
  coalesce(answer, 'Nobody knows how this attempt ended.')
from system_mails
where status in ('QUEUED', 'CLAIMED', 'SENDING') and attempts - (status = 'CLAIMED')::integer > 0;

drop table system_mails;
