-- Images that were uploaded for template bodies (docs/decisions/0049-uploads.md). The files themselves are on disk or in S3.

-- owner: uploads
create table uploads (
  project_id uuid not null references projects on delete cascade,
  id uuid not null,
  -- The file, below the project: 128 random bits in hexadecimal, and an ending for its type.
  file text not null check (file ~ '^[0-9a-f]{32}\.(png|jpg|gif|webp)$'),
  -- Of the bytes as they were uploaded, SHA-256: the same image is stored once.
  source_hash bytea not null check (length(source_hash) = 32),
  content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
  -- Of the file, as it is stored.
  bytes integer not null check (bytes > 0),
  -- In pixels; of an animation one frame.
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  -- As whoever uploaded it called it.
  name text not null,
  created_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, file),
  unique (project_id, source_hash)
);
