-- The preview text of emails written as HTML (docs/decisions/0146-preview-text.md).
-- Null if there is none, and for blocks, whose design contains it.
alter table templates add column preview_text text;
alter table template_variants add column preview_text text;
alter table template_versions add column preview_text text;
alter table campaigns add column preview_text text;
