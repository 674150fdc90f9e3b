-- The brand of a project, which new emails and its public pages get (docs/decisions/0157-brand.md). Logo and postal address exist.
-- The defaults are the look that new emails had before.
alter table projects
  add column brand_background text not null default '#f5f5f4' check (brand_background ~ '^#[0-9a-f]{6}$'),
  add column brand_surface text not null default '#ffffff' check (brand_surface ~ '^#[0-9a-f]{6}$'),
  add column brand_ink text not null default '#1c1917' check (brand_ink ~ '^#[0-9a-f]{6}$'),
  add column brand_accent text not null default '#2f3437' check (brand_accent ~ '^#[0-9a-f]{6}$'),
  -- A name in contract/src/email-fonts.ts.
  add column brand_font text not null default 'sans',
  add column brand_footer_align text not null default 'center' check (brand_footer_align in ('left', 'center', 'right')),
  add column brand_footer_logo boolean not null default true;

-- What the image shows, for people who don't see it. The dashboard proposes it in emails.
alter table uploads add column alt text not null default '';
