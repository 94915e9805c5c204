-- Machinery that every module uses. Everything here can be rebuilt or lost without losing a promise,
-- except the outbox, whose loss the sweep of design section 4.2 repairs.
create schema if not exists platform;

create table platform.lease (
  name text primary key,
  holder text not null,
  attempt bigint not null,
  until timestamptz not null
);

-- Work to be handed to the durable engine. A row lives for milliseconds, or until the engine is back. For its first
-- two seconds it belongs to the process that committed it; then to whichever relay takes it for a while.
create table platform.outbox (
  id uuid primary key default gen_random_uuid(),
  handler text not null,
  key text not null,
  input jsonb not null,
  due_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null default clock_timestamp() + interval '2 seconds',
  tries integer not null default 0
);
create index outbox_lease on platform.outbox (lease_until);

-- One row per (caller, Idempotency-Key). The digest is keyed: bodies are compared, never kept.
create table platform.idempotency (
  owner text not null,
  key text not null,
  operation text not null,
  attempt integer not null default 1,
  lease_until timestamptz not null,
  digest text,
  status integer,
  reply text,
  expires_at timestamptz not null,
  primary key (owner, key)
);
create index idempotency_expiry on platform.idempotency (expires_at);
