-- Endpoints, events, what is still to be sent, and the log of attempts.
create schema webhooks;

create table webhooks.endpoint (
  id text primary key,
  project_id text not null,
  name text not null,
  url text not null,
  event_types text[] not null,
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  disabled_reason text,
  -- First failure of the unbroken row that still goes on.
  failing_since timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz
);
create index endpoint_newest on webhooks.endpoint (project_id, created_at desc, id desc) where deleted_at is null;
create index endpoint_deleted on webhooks.endpoint (deleted_at) where deleted_at is not null;

create table webhooks.secret (
  id text primary key,
  endpoint_id text not null references webhooks.endpoint (id),
  -- Sealed with the deployment's key; the clear text is shown once and kept nowhere.
  sealed text not null,
  hint text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Null: the current one. Otherwise it signs beside the current one until then.
  active_until timestamptz
);
create index secret_of_endpoint on webhooks.secret (endpoint_id);

-- Ids sort by time, so a day is a range of ids: old days go as whole partitions, and a lookup by id prunes.
create table webhooks.event (
  id text collate "C" not null,
  project_id text not null,
  type text not null,
  created_at timestamptz not null,
  body text not null,
  primary key (id)
) partition by range (id);
create index event_of_project on webhooks.event (project_id, id);
create table webhooks.event_other partition of webhooks.event default;

-- Only what is still to be sent. A delivery is named by its endpoint and its event.
create table webhooks.due (
  endpoint_id text not null,
  event_id text collate "C" not null,
  -- 0 urgent, 1 everything else.
  lane smallint not null,
  due_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Attempts made so far, over redeliveries too; the next one has the next number.
  attempts integer not null default 0,
  -- Attempts since the event was last made due; they decide the place in the schedule.
  round integer not null default 0,
  first_at timestamptz,
  primary key (endpoint_id, event_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index due_next on webhooks.due (endpoint_id, lane, due_at, event_id);

create table webhooks.lease (
  endpoint_id text not null,
  lane smallint not null,
  holder text not null,
  until timestamptz not null,
  primary key (endpoint_id, lane)
);

create table webhooks.attempt (
  event_id text collate "C" not null,
  endpoint_id text not null,
  number integer not null,
  at timestamptz not null,
  duration_ms integer not null,
  url text not null,
  status_code integer,
  -- delivered, or why not: timed_out, status, address_not_allowed, …
  outcome text not null,
  response_start text,
  next_at timestamptz,
  -- How the delivery ended with this attempt; null when it went on.
  ended text check (ended in ('delivered', 'failed', 'discarded')),
  primary key (event_id, endpoint_id, number)
) partition by range (event_id);
create index attempt_ended on webhooks.attempt (endpoint_id, event_id) where ended is not null;
create table webhooks.attempt_other partition of webhooks.attempt default;
