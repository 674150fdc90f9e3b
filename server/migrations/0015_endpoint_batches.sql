-- Batches, rates and tags of webhook endpoints (docs/decisions/0142-batches-of-events.md).

alter table webhook_endpoints
  -- Events per call. With 1 the body is the event, otherwise it has a list.
  add column batch_size integer not null default 1 check (batch_size > 0),
  -- Null for no limit.
  add column calls_per_second integer check (calls_per_second > 0),
  -- The time at which the calls made so far fit the rate exactly. It can be up to a second ahead. Null without a rate.
  add column paced_until timestamptz,
  -- Only events of emails with one of these tags. Null for all events.
  add column tags text[];
