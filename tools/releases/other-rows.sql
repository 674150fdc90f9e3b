-- Adds rows to the tables that a small project leaves empty, such as those of other services. Everything in them is over, so that no loop
-- changes them. `:project` stands for the ID of the project.
insert into account_tokens (hash, user_id, purpose, email, expires_at)
  select 'token', id, 'RESET', email, now() from users limit 1;
insert into billing_customers (project_id, customer_id) values (:project, 'cus_1');
insert into billing_usage (project_id, day, category, customer_id, value, reported_at)
  values (:project, '2026-01-31', 'campaigns', 'cus_1', 3, now());
insert into campaign_queues (project_id, campaign_id, state)
  select project_id, id, 'CLOSED' from campaigns where project_id = :project and status = 'DRAFT' limit 1;
insert into consent_erasures (project_id, positions) values (:project, '{}');
insert into content_links (project_id, content_id, numbers, urls)
  select project_id, id, '{7}', '{https://example.com}' from email_contents where project_id = :project
  on conflict do nothing;
insert into dmarc_reports (project_id, id, domain, reporter, report_id, begins_at, ends_at, policy)
  values (:project, new_id(), 'example.com', 'receiver.example', 'r1', now(), now(), 'none');
insert into dmarc_sources (project_id, report_id, position, source_ip, messages, disposition, dkim, spf, signers)
  select project_id, id, 0, '192.0.2.1', 5, 'none', true, false, '{example.com}' from dmarc_reports;
insert into domain_record_changes (project_id, domain_id, purpose, name, status)
  select project_id, id, 'DKIM', domain, 'MISSING' from domains where project_id = :project limit 1;
insert into email_files (project_id, id, bytes) values (:project, new_id(), 'attached');
insert into email_attempts (project_id, email_id, attempt, outcome, answer, transport)
  select project_id, id, 1, 'deferred', '450 later', 'smtp' from emails where project_id = :project limit 1;
insert into email_resolutions (project_id, email_id, attempt, resolved_as, resolved_by)
  select project_id, email_id, attempt, 'sent', 'ada@example.com' from email_attempts;
insert into email_retentions (project_id, days) values (:project, 365);
insert into emails_kept_longer (project_id, id, is_campaign, content_id, after_id, last_id, due_at)
  select project_id, id, false, content_id, id, id, now() + interval '9 years' from emails where project_id = :project limit 1;
insert into event_reactions (project_id, subscriber, id, contact_id)
  select project_id, 'nobody', new_id(), id from contacts where project_id = :project limit 1;
insert into event_retentions (project_id, days) values (:project, 365);
insert into idempotency_keys (project_id, key, fingerprint, status, answer)
  values (:project, 'once', 'print', 200, '{}');
insert into identities (id, issuer, subject, user_id, email)
  select new_id(), 'https://id.example.com', '17', id, email from users limit 1;
insert into jobs (project_id, id, kind, state, input, progress, finished_at)
  values (:project, new_id(), 'contacts.import', 'completed', '{}', 100, now());
insert into job_files (project_id, job_id, bytes)
  select project_id, id, 'email' from jobs where project_id = :project and kind = 'contacts.import' limit 1;
insert into job_errors (project_id, job_id, row, subject, error) select project_id, job_id, 1, 'a', 'Not an address.' from job_files;
insert into import_changes (project_id, job_id, number, kind, contact_ids)
  select project_id, job_id, 1, 'CREATED', array[new_id()] from job_files;
insert into invitations (project_id, id, email, role, token_hash, expires_at)
  values (:project, new_id(), 'invited@example.com', 'MEMBER', 'token', now() + interval '9 years');
insert into link_clicks (project_id, email_id, number) select project_id, email_id, 7 from email_attempts;
insert into notices (id, source, provider_id, done_at, result) values (new_id(), 'sns', 'n1', now(), 'delivered');
insert into opt_outs (project_id, address_hash) values (:project, new_id());
insert into passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
  select new_id(), id, 'credential', 'key', 0, '{usb}', 'My key' from users limit 1;
insert into passkey_challenges (hash, expires_at) values ('challenge', now()) on conflict do nothing;
insert into paused_destinations (project_id, destination, domains, answer, try_at, released_at)
  values (:project, 'example.org', '{example.org}', '550 no', now(), now());
insert into processes (id, roles, host, version) values (new_id(), '{worker}', 'mail-1', '0.1.0');
insert into project_suspensions (project_id, id, reasons, lifted_at) values (:project, new_id(), '["Bounces"]', now());
insert into link_domains (project_id, domain) values (:project, 'go.example.com');
insert into received_emails (project_id, id, contact_id, thread_id, recipient, from_address, subject, reference_ids, raw)
  select project_id, new_id(), id, new_id(), 'us@in.example', 'ada@example.com', 'A question', '{1@example.com}', 'From: ada@example.com'
  from contacts where project_id = :project limit 1;
insert into recipient_batches (project_id, id, campaign_id, content_id, email_ids, contact_ids, addresses, domains)
  select c.project_id, new_id(), c.id, e.id, array[new_id()], array[new_id()], '{ada@example.com}', '{example.com}'
  from campaigns c, email_contents e where c.project_id = :project and e.project_id = c.project_id and c.status = 'DRAFT' limit 1;
insert into second_factors (user_id, sealed_secret) select id, 'sealed' from users order by id desc limit 1 on conflict do nothing;
insert into recovery_codes (user_id, hash) select id, 'code' from users order by id desc limit 1;
insert into retired_slugs (project_id, slug) values (:project, 'gone');
insert into returned_messages (project_id, id, email_id, said) select project_id, new_id(), email_id, 'I am away.' from email_attempts;
insert into scoped_keys (project_id, id, hash, name, scopes, networks, created_by, role)
  select project_id, new_id(), 'key', 'Reports', '{analytics:read}', '{}', user_id, 'MEMBER' from memberships where project_id = :project;
insert into segment_members (project_id, segment_id, contact_id)
  select s.project_id, s.id, c.id from segments s join contacts c using (project_id)
  where s.project_id = :project and s.type = 'STATIC' limit 1;
update segments s set member_count = (select count(*) from segment_members m where m.project_id = s.project_id and m.segment_id = s.id)
where s.project_id = :project and s.type = 'STATIC';
insert into storage_days (day, measured_at, database_bytes, table_bytes) values ('2026-10-01', now(), 1, '{}') on conflict do nothing;
insert into stripe_events (id, type, told_at, done_at) values ('evt_1', 'invoice.paid', now(), now());
insert into suppressions (project_id, id, email, reason) values (:project, new_id(), 'gone@example.com', 'HARD_BOUNCE');
insert into tls_reports (project_id, id, domain, reporter, report_id, begins_at, ends_at, successes, failures, details)
  values (:project, new_id(), 'example.com', 'receiver.example', 'r1', now(), now(), 5, 0, '[]');
insert into told_members (project_id, kind) values (:project, 'weekly');
insert into tracking_counts (project_id, content_id, number, campaign_id, total)
  select project_id, content_id, 7, '00000000-0000-0000-0000-000000000000', 1 from content_links limit 1;
insert into webhook_calls (project_id, id, owner_kind, owner_id, owner_ref, url, method, headers, state, due_at, ended_at)
  values (:project, new_id(), 'member', new_id(), 'test', 'https://example.com', 'POST', '{}', 'done', null, now());
insert into workflow_earlier_graphs (project_id, workflow_id, revision, graph)
  select w.project_id, w.id, 1, '{"steps": [], "transitions": []}'
  from workflows w where w.project_id = :project on conflict do nothing;
insert into workflow_dates (project_id, workflow_id, contact_id, occurs_at, due_at, since)
  select w.project_id, w.id, c.id, now(), now() + interval '9 years', now()
  from workflows w join contacts c using (project_id) where w.project_id = :project limit 1;
