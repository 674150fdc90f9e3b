-- When an image was uploaded last: the same bytes again are the same row, whose first upload may be long ago.
-- owner: uploads
alter table uploads add column uploaded_at timestamptz not null default now();
update uploads set uploaded_at = created_at;
