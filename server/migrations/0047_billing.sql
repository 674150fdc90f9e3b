-- What a project pays, as Stripe knows it (docs/decisions/0054-billing.md).

-- owner: billing
create table billing_customers (
  project_id uuid primary key references projects on delete cascade,
  customer_id text not null,
  -- As Stripe said it last; null: it never had one.
  subscription_id text,
  subscription_status text,
  -- Counts what was written: whoever asked Stripe meanwhile asks again.
  version int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index billing_customers_customer on billing_customers (customer_id);

-- Events of Stripe, each once. Of what they say only whom they are about is kept: the rest is asked for when they are gone through.
-- owner: billing
create table stripe_events (
  id text primary key,
  type text not null,
  -- Null where there is nothing to do.
  customer_id text,
  -- By Stripe's clock.
  told_at timestamptz not null,
  due_at timestamptz not null default now(),
  failures int not null default 0,
  done_at timestamptz
);
create index stripe_events_due on stripe_events (due_at) where done_at is null;
create index stripe_events_done on stripe_events (done_at) where done_at is not null;
