-- What a project says of itself at the end of its advertising, and how fast it sends.
alter table projects
  -- Mails a second; null: as fast as the installation lets a project.
  add column sending_rate integer check (sending_rate > 0),
  -- Lines as they are shown.
  add column postal_address text,
  add column logo_url text;

-- When a suspension was lifted, and by which person; null for whoever runs the installation.
alter table project_suspensions
  add column lifted_at timestamptz,
  add column lifted_by uuid;
update project_suspensions s set lifted_at = now()
where exists (select 1 from projects p where p.id = s.project_id and not p.disabled);
