-- The response to a logged API request, as redacted as its body. Null if it was not JSON or too large, and for requests logged before.
alter table api_requests add column response jsonb;
