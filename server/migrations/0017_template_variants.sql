-- Variants of templates by language (docs/decisions/0144-variants-of-templates.md).
-- All changes are quick, because adding a column without a default rewrites nothing.

-- The content of a template in another language. Everything else about the email comes from the template.
-- owner: templates
create table template_variants (
  project_id uuid not null,
  template_id uuid not null,
  -- A BCP 47 tag in canonical form, such as `pt-BR`.
  locale text not null,
  subject text not null,
  body text not null,
  -- The blocks from which the editor makes the body.
  design jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, template_id, locale),
  foreign key (project_id, template_id) references templates (project_id, id) on delete cascade
);

alter table template_versions
  -- The language of the variant that had this content. Null for the template's own content.
  add column locale text;

alter table email_contents
  -- The language of the variant that the content was made from. Null for all other content.
  add column locale text;

-- See the end of 0001_initial.sql.
alter table template_variants alter column project_id set (n_distinct = 10);
