-- Tokens of sign-ups whose account does not exist yet: it is created when the link in the email is opened.
alter table account_tokens
  alter column user_id drop not null,
  drop constraint account_tokens_purpose_check,
  add constraint account_tokens_purpose_check check (purpose in ('SIGN_UP', 'VERIFY', 'RESET')),
  add constraint account_tokens_user_check check ((user_id is null) = (purpose = 'SIGN_UP'));
create unique index account_tokens_sign_up on account_tokens (email) where purpose = 'SIGN_UP';
