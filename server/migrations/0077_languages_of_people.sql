-- In which language a person gets mail about their account (docs/decisions/0075-language-of-people.md).
alter table users add column language text not null default 'en' check (language in ('en', 'de', 'fr', 'es'));
