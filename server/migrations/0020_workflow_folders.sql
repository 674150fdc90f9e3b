-- Folders of the workflow list. A folder exists while a workflow names it. Null for none.
alter table workflows add column folder text;
